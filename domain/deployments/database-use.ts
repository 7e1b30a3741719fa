import type { EntityManager } from "@mikro-orm/core";
import { App } from "../apps/app.entity.ts";
import type { AppCode } from "../ports/bundler.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import { BuildFailure } from "../shared/errors.ts";
import { readDatabaseUse } from "./artifacts.ts";
import { Deployment } from "./deployment.entity.ts";

export type DatabaseUse = NonNullable<Awaited<ReturnType<typeof readDatabaseUse>>>;

/** The database that the live deployment of an app uses; `null` when nothing is live, or its bundle is not kept. */
export async function readLiveDatabaseUse(
  deps: { em: EntityManager; objects: ObjectStore },
  appId: string,
): Promise<DatabaseUse | null> {
  const em = deps.em.fork();
  const { liveDeploymentId } = await em.findOneOrFail(App, { id: appId });
  const live = await em.findOne(Deployment, { id: liveDeploymentId ?? null });
  return readDatabaseUse(deps, { appId, key: live?.artifactKey ?? null });
}

/**
 * Refuses a deployment without a build that would not find the present data.
 *
 * @param name - the deployment that was built, such as `Deployment 3`
 * @throws {BuildFailure} `user`
 */
export function requireSameDatabase(name: string, code: AppCode, live: DatabaseUse | null): void {
  if (live === null || live.usesPostgres === usesPostgres(code)) return;
  throw new BuildFailure(
    "user",
    `${name} stores its data in ${nameOf(usesPostgres(code))}, and the live one in ${nameOf(live.usesPostgres)}, so it would not find the present data.`,
    "To use this code, deploy its commit with the database of the live deployment.",
  );
}

/** What the owner should know when a deployment uses another kind of database than the one before; `null` if it does not. */
export function describeDatabaseChange(code: AppCode, live: DatabaseUse | null): string | null {
  if (live === null || live.usesPostgres === usesPostgres(code)) return null;
  return `The app uses ${nameOf(usesPostgres(code))} now. What it stored in ${nameOf(live.usesPostgres)} before is kept until the app is deleted, and is not copied.`;
}

function usesPostgres(code: AppCode): boolean {
  return code.runtime === "node" && code.server.postgres !== undefined;
}

function nameOf(isPostgres: boolean): string {
  return isPostgres ? "PostgreSQL" : "SQLite";
}
