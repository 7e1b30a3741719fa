import { databaseIdOf, sourceBucketOf } from "../apps/app-resources.ts";
import type { AuthEntries } from "../ports/auth-entries.ts";
import type { EdgePlatform } from "../ports/edge-platform.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import type { SqlDatabases } from "../ports/sql-databases.ts";

/** Everything that keeps something for an app. */
export interface AppPlatform {
  edge: EdgePlatform;
  databases: SqlDatabases;
  authEntries: AuthEntries;
  objects: ObjectStore;
}

/**
 * Removes the four resources of an app, in the order in which they depend on each other: the script first, since it
 * holds the others open. Every step succeeds when there is nothing to remove, so it can be repeated until all are gone.
 */
export async function releaseResources(platform: AppPlatform, app: { appId: string; slug: string }): Promise<void> {
  await platform.edge.unpublish(app.slug);
  await platform.authEntries.remove(app.appId);
  await platform.databases.remove(databaseIdOf(app.appId));
  await platform.objects.removeBucket(sourceBucketOf(app.appId));
}
