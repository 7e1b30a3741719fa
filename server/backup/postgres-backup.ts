import path from "node:path";
import pg from "pg";
import { BackupError } from "./backup-error.ts";
import type { BackupWriter } from "./backup-writer.ts";
import type { TreePath } from "../app-files/tree-files.ts";

/** Files of the running server, which a copy must not have. */
const OWN_FILES = ["postmaster.pid", "postmaster.opts"];
/** The content of these folders is of no use to another server, or is copied in another way. */
const EMPTY_FOLDERS =
  /^(?:pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\/|(?:^|\/)pgsql_tmp/;
const SEGMENT = /^[0-9A-F]{24}$/;
/** 00000001.history: where the server continued from another one. */
const TIMELINE_HISTORY = /^[0-9A-F]{8}[.]history$/;

export interface Cluster {
  /** A connection string for a superuser. */
  url: string;
  /** The data folder of the server. */
  data: string;
}

/**
 * Copies a running PostgreSQL server with its low-level API for backups. Files change while they are copied; the copy of the
 * write-ahead log repairs them when the restored server starts, and the restored data is that of the end of this function.
 * A slot keeps the log until it is copied. When the connection ends, the server forgets both.
 *
 * @param prefix - the path of the data folder in the backup
 * @throws {BackupError}
 */
export async function backUpCluster(writer: BackupWriter, prefix: TreePath, { url, data }: Cluster): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: "service backup", keepAlive: true });
  // A lost connection also makes the next query fail.
  client.on("error", () => undefined);
  await client.connect();
  try {
    await client.query("select pg_create_physical_replication_slot('backup_' || pg_backend_pid(), true, true)");
    await client.query("select pg_backup_start('service', true)");
    await writer.addTree(prefix, data, {
      isExcluded: (file) => OWN_FILES.includes(path.posix.basename(file)) || EMPTY_FOLDERS.test(file),
    });
    const { label, first, last } = await stopBackup(client);
    const isNeeded = (name: string) =>
      TIMELINE_HISTORY.test(name) || (SEGMENT.test(name) && name >= first && name <= last);
    await writer.addTree(`${prefix}/pg_wal`, path.join(data, "pg_wal"), { isExcluded: (name) => !isNeeded(name) });
    await writer.addContent(`${prefix}/backup_label`, { mode: 0o600, modifiedAt: Date.now() }, [Buffer.from(label)]);
  } finally {
    await client.end();
  }
}

/** Returns the label that the copy needs, and the first and the last segment of the write-ahead log that it needs. */
async function stopBackup(client: pg.Client): Promise<{ label: string; first: string; last: string }> {
  const { rows } = await client.query<{ labelfile: string; spcmapfile: string; last: string }>(
    "select labelfile, spcmapfile, pg_walfile_name(lsn) as last from pg_backup_stop(false)",
  );
  const [stopped] = rows;
  const [, first] = /^START WAL LOCATION: \S+ \(file ([0-9A-F]{24})\)$/m.exec(stopped?.labelfile ?? "") ?? [];
  if (stopped === undefined || first === undefined) throw new BackupError("PostgreSQL could not complete the backup.");
  if (stopped.spcmapfile.trim() !== "")
    throw new BackupError("A database has tablespaces outside of its data folder. They cannot be in the backup.");
  return { label: stopped.labelfile, first, last: stopped.last };
}
