/** The names of all resources of an app are derived from its id, so a resource can always be found again. */
export function sqlDatabaseId(appId: string): string {
  return `app-${appId}`;
}

export function sourceBucketName(appId: string): string {
  return `app-${appId}`;
}

/**
 * The bucket of the app's built bundles. A deployment's `artifactKey`, `<number>.<fencing token>`, is the folder of its
 * bundle in this bucket: `script.form`, the static files `assets/0`, `assets/1`, ... and `bundle.json` (framework, asset
 * rules, paths of the static files, migrations).
 */
export function artifactBucketName(appId: string): string {
  return `artifacts-${appId}`;
}

/** The bucket of all deployment logs. It is older than the table of deployments, hence its name. */
export const LOG_BUCKET = "build-logs";

export function deploymentLogKey(appId: string, number: number): string {
  return `${appId}/${number}.log`;
}

const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const RESOURCE_NAME = new RegExp(`^(?:app|artifacts)-(${UUID})$`);
/** `<app id>/<number>.log`, or `<app id>.log` for an app that is older than the table of deployments. */
const LOG_KEY = new RegExp(`^(${UUID})(?:/|[.]log$)`);

/** The id of the app that a database or bucket belongs to; `null` for any other name. */
export function appIdOfResource(name: string): string | null {
  return RESOURCE_NAME.exec(name)?.[1] ?? null;
}

/** The id of the app that a log belongs to; `null` for any other key. */
export function appIdOfLog(key: string): string | null {
  return LOG_KEY.exec(key)?.[1] ?? null;
}
