import { artifactBucketName, sourceBucketName, sqlDatabaseId } from "../apps/app-resources.ts";
import type { AuthEntries } from "../ports/auth-entries.ts";
import type { EdgePlatform } from "../ports/edge-platform.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import type { SqlDatabases } from "../ports/sql-databases.ts";

/** The ports that hold resources of apps. */
export interface AppPlatform {
  edge: EdgePlatform;
  databases: SqlDatabases;
  authEntries: AuthEntries;
  objects: ObjectStore;
}

/**
 * Removes the four resources of an app and its kept bundles, in the order of their dependencies: the script first, because
 * it holds the others open. Every step succeeds when there is nothing to remove, so a call that failed can be repeated.
 */
export async function releaseResources(platform: AppPlatform, app: { appId: string; slug: string }): Promise<void> {
  await platform.edge.unpublish(app.slug);
  await platform.authEntries.remove(app.appId);
  await platform.databases.remove(sqlDatabaseId(app.appId));
  await platform.objects.removeBucket(sourceBucketName(app.appId));
  await platform.objects.removeBucket(artifactBucketName(app.appId));
}
