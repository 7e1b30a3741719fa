import { artifactBucketName, sourceBucketName, sqlDatabaseId } from "../apps/app-resources.ts";
import type { AuthEntries } from "../ports/auth-entries.ts";
import type { EdgePlatform } from "../ports/edge-platform.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import type { SqlDatabases } from "../ports/sql-databases.ts";
import type { TeardownStep } from "./teardown-steps.ts";

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
 *
 * @param onStep - called before each step
 */
export async function releaseResources(
  { edge, authEntries, databases, objects }: AppPlatform,
  { appId, slug }: { appId: string; slug: string },
  onStep: (step: TeardownStep) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  await onStep("script, files and keys");
  await edge.unpublish(slug);
  await onStep("app token");
  await authEntries.remove(appId);
  await onStep("SQL database");
  await databases.remove(sqlDatabaseId(appId));
  await onStep("sources");
  await objects.removeBucket(sourceBucketName(appId));
  await onStep("builds");
  await objects.removeBucket(artifactBucketName(appId));
}
