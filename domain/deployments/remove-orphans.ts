import type { EntityManager } from "@mikro-orm/core";
import { appIdOfLog, appIdOfResource, LOG_BUCKET } from "../apps/app-resources.ts";
import { App } from "../apps/app.entity.ts";
import type { AppPlatform } from "./release-resources.ts";

/** A resource at the platform, and how to remove it. */
interface Resource {
  appId: string;
  description: string;
  remove(): Promise<void>;
}

/**
 * Removes every resource that belongs to no app. If one cannot be removed, the others still are.
 *
 * @returns a description of each removed resource
 * @throws {AggregateError} when some could not be removed
 */
export async function removeOrphans(deps: AppPlatform & { em: EntityManager }): Promise<string[]> {
  // List the resources before reading the records. A record is always older than its resources, so a record that is
  // missing afterwards was removed, and is not about to be created.
  const found = await listResources(deps);
  const existing = await existingApps(deps.em, new Set(found.map((resource) => resource.appId)));
  const orphans = found.filter((resource) => !existing.has(resource.appId));
  const failures: unknown[] = [];
  for (const orphan of orphans) await orphan.remove().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} orphans could not be removed`);
  return orphans.map((orphan) => orphan.description);
}

async function listResources({ edge, databases, authEntries, objects }: AppPlatform): Promise<Resource[]> {
  const scripts = (await edge.list()).map(({ appId, slug }) => ({
    appId,
    description: `script ${slug}`,
    remove: () => edge.unpublish(slug),
  }));
  const entries = (await authEntries.list()).map((appId) => ({
    appId,
    description: `auth entry ${appId}`,
    remove: () => authEntries.remove(appId),
  }));
  const sql = named("SQL database", await databases.list(), appIdOfResource, (id) => databases.remove(id));
  const buckets = named("bucket", await objects.listBuckets(), appIdOfResource, (name) => objects.removeBucket(name));
  const logKeys = (await objects.list(LOG_BUCKET)).map(({ key }) => key);
  const logs = named("log", logKeys, appIdOfLog, (key) => objects.remove(LOG_BUCKET, key));
  return [...scripts, ...entries, ...sql, ...buckets, ...logs];
}

/** The resources whose names contain the id of an app; any other name belongs to something else. */
function named(
  kind: string,
  names: readonly string[],
  appIdOf: (name: string) => string | null,
  remove: (name: string) => Promise<void>,
): Resource[] {
  return names.flatMap((name) => {
    const appId = appIdOf(name);
    return appId === null ? [] : [{ appId, description: `${kind} ${name}`, remove: () => remove(name) }];
  });
}

async function existingApps(em: EntityManager, ids: ReadonlySet<string>): Promise<Set<string>> {
  const apps = await em.fork().find(App, { id: { $in: [...ids] } }, { fields: ["id"] });
  return new Set(apps.map((app) => app.id));
}
