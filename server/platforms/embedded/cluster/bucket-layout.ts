/**
 * The objects of the edges in the bucket, below its prefix:
 *
 * ```text
 * edge/restore.json                          exists until a restore is complete
 * edge/backup.json                           exists while a backup is made
 * edge/held-deletions/<hash>                 the key of a large value that is removed after the backup
 * edge/apps/<slug>.json                      the live version of an app; replaced by a conditional write
 * edge/versions/<slug>/<app id>/<name>.tar   the files of a version
 * edge/server-data/<slug>/<app id>/lease.json         the edge that runs a Node server, and its newest snapshot
 * edge/server-data/<slug>/<app id>/<name>.tar.zst     a snapshot of its /data
 * edge/auth-entries/<app id>.json
 * edge/databases/<database id>               exists as long as the database
 * edge/data/<database id>/v1/do/…            the durable objects of an app, written by workerd
 * edge/data/<database id>/v1/alarms/…        their alarms, written by workerd
 * edge/data/<database id>/v1/nodes/…         its processes, written by workerd
 * edge/data/<database id>/v1/services/…      its large values, written by workerd
 * ```
 *
 * A durable object, below `do/<class>/<id>/`, is:
 *
 * ```text
 * own.json                    { node, epoch, from }: its owner; replaced by conditional writes
 * log/<epoch>/<sequence>      one commit; written once, removed when a snapshot has it
 * snapshot/<epoch>/<sequence> the database after a commit; written once, removed when there is a newer one
 * ```
 *
 * The data of the object is that of the epoch `from`. A new owner raises `epoch`, writes what it has read as the first snapshot of
 * its epoch, and only then sets `from` to it and commits. An owner reads `own.json` after each write to the log, and acknowledges a commit
 * only if it is still the owner.
 */
export const EDGE_FOLDER = "edge";
export const RESTORE_KEY = "edge/restore.json";
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

/** Whether an object is a large value of an app. It is written once, before the row that names it, and removed after this row. */
export function isLargeValue(key: string): boolean {
  return /^edge\/data\/[^/]+\/v1\/services\//.test(key);
}
