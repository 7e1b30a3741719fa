/**
 * The objects of the edges in the bucket, below its prefix:
 *
 * ```text
 * edge/apps/<slug>.json                      the live version of an app; replaced by a conditional write
 * edge/versions/<slug>/<app id>/<name>.tar   the files of a version
 * edge/server-data/<slug>/<app id>/lease.json         the edge that runs a Node server, and its newest snapshot
 * edge/server-data/<slug>/<app id>/<name>.tar.zst     a snapshot of its /data
 * edge/auth-entries/<app id>.json
 * edge/databases/<database id>               exists as long as the database
 * edge/data/<database id>/v1/do/…            the durable objects of an app, written by workerd
 * edge/data/<database id>/v1/nodes/…         its processes, written by workerd
 * edge/data/<database id>/v1/services/…      its large values, written by workerd
 * ```
 */
export const APPS_PREFIX = "edge/apps/";
export const VERSIONS_PREFIX = "edge/versions/";
export const SERVER_DATA_PREFIX = "edge/server-data/";
export const AUTH_ENTRIES_PREFIX = "edge/auth-entries/";
export const DATABASES_PREFIX = "edge/databases/";
export const DATA_PREFIX = "edge/data/";

/** What all processes of an app have in common. */
export function dataPrefix(databaseId: string): string {
  return `${DATA_PREFIX}${databaseId}/`;
}
