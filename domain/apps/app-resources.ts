/** The ids of everything the platform makes for an app follow from the app's id, so nothing made can be lost. */
export function databaseIdOf(appId: string): string {
  return `app-${appId}`;
}

export function sourceBucketOf(appId: string): string {
  return `app-${appId}`;
}

/** The app id that a database or bucket name stands for; `null` for a name that is not an app's. */
export function appIdOf(resourceId: string): string | null {
  return /^app-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/.exec(resourceId)?.[1] ?? null;
}

/** The bucket of all build logs, and the key of one app's log in it. */
export const LOG_BUCKET = "build-logs";

export function logKeyOf(appId: string): string {
  return `${appId}.log`;
}
