import { randomUUID } from "node:crypto";
import path from "node:path";
import { App } from "../../domain/apps/app.entity.ts";
import { sqlDatabaseId } from "../../domain/apps/app-resources.ts";
import { slugFor } from "../../domain/apps/slug.ts";
import { sha256Hex } from "../../domain/shared/sha256.ts";
import type { Em } from "../../server/database/orm.ts";
import { FilesystemAuthEntries } from "../../server/platforms/embedded/auth-entries.ts";
import type { AppCode } from "../../domain/ports/bundler.ts";
import { ScriptStore } from "../../server/platforms/embedded/scripts/script-store.ts";
import { databaseDirectory } from "../../server/platforms/embedded/databases/sql-databases.ts";
import { mkdir } from "node:fs/promises";

/**
 * Inserts live apps like a deployment does, but without a build and without starting them: the row, the auth entry, the
 * folder of the SQL database, and the script in the edge platform's store.
 *
 * @returns the slugs of the apps
 */
export async function insertLiveApps(
  { em, dataDirectory }: { em: Em; dataDirectory: string },
  orgId: string,
  count: number,
  code: AppCode,
): Promise<string[]> {
  const edge = path.join(dataDirectory, "edge");
  const store = new ScriptStore(edge, () => Promise.reject(new Error("These apps are Workers")));
  const entries = new FilesystemAuthEntries(path.join(dataDirectory, "auth-entries"));
  const apps = Array.from({ length: count }, () => ({ appId: randomUUID(), slug: slugFor("inactive") }));
  await em.transactional(async (tx) => {
    const origin = { orgId, name: "inactive", repo: "examples/hello", branch: "main", status: "ready" } as const;
    for (const { appId, slug } of apps) {
      const deploymentId = randomUUID();
      const deployments = { latestDeploymentId: deploymentId, liveDeploymentId: deploymentId };
      tx.create(App, { ...origin, ...deployments, id: appId, slug });
    }
  });
  for (const { appId, slug } of apps) {
    const databaseId = sqlDatabaseId(appId);
    await mkdir(databaseDirectory(path.join(edge, "databases"), databaseId), { recursive: true });
    await entries.put({ appId, tokenSha256: sha256Hex(appId) });
    await store.commit(
      await store.stage(slug, { appId, generation: 1, code, assets: null, databaseId }, new AbortController().signal),
    );
  }
  return apps.map(({ slug }) => slug);
}
