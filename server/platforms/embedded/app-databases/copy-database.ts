import { chmod, constants, copyFile, type FileHandle, rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "../../../../domain/shared/errors.ts";
import { openBeneath, pathOf } from "./open-beneath.ts";

/** `maxBytes` includes the log and the journal. Copies are tried for `patienceMs`. */
const DEFAULT_LIMITS = { maxBytes: 1024 ** 3, patienceMs: 5000 };
const PAUSE_MS = 50;
/** The clock of file times advances in steps of up to 10 ms. A change within the step of the one before would not show. */
const CLOCK_STEP_MS = 20;

const WAL_HEADER_BYTES = 32;
/**
 * Offsets in the header of a database: its kind of journal, and a number that is larger after each transaction without a
 * write-ahead log (https://www.sqlite.org/fileformat2.html).
 */
const WRITE_VERSION = 18;
const CHANGE_COUNTER = 24;
const DATABASE_HEADER_BYTES = 28;
const WAL_VERSION = 2;
/** A rollback journal is in use while its header has a magic number. SQLite removes or clears it at the end of a transaction. */
const JOURNAL_HEADER_BYTES = 8;

/** Where a SQLite database is. */
export interface DatabaseLocation {
  /** The folder that the app writes to. */
  folder: string;
  /** The path of the file below it. */
  name: string;
}

/**
 * Copies a database that an app may be writing to, with its write-ahead log or its rollback journal, so that the copy is as
 * after a crash at one moment: SQLite completes or rolls back what was not finished when it opens the copy. The app does
 * not wait, because no lock is taken. Only bytes are copied: nothing here interprets the database.
 *
 * @returns its size
 * @throws {ServiceError} `conflict` when the file is missing or too large, `unavailable` when it changes all the time
 */
export async function copyDatabase(
  location: DatabaseLocation,
  copy: string,
  signal: AbortSignal,
  { maxBytes, patienceMs } = DEFAULT_LIMITS,
): Promise<number> {
  for (const deadline = Date.now() + patienceMs; Date.now() < deadline;) {
    signal.throwIfAborted();
    const bytes = await tryToCopy(location, copy, maxBytes);
    if (bytes !== null) return bytes;
    await sleep(PAUSE_MS, null, { signal });
  }
  throw new ServiceError(
    "unavailable",
    "The app writes to its database all the time, so it cannot be read. Try again.",
  );
}

/** Returns `null` if the files may have changed while they were copied. */
async function tryToCopy({ folder, name }: DatabaseLocation, copy: string, maxBytes: number): Promise<number | null> {
  const before = await openFiles(folder, name);
  await using _ = before;
  if (before.database === null) throw new ServiceError("conflict", "The database is not a file that can be read.");
  const startedAt = Date.now();
  const state = await readState(before);
  if (state.bytes > maxBytes)
    throw new ServiceError("conflict", `The database is larger than ${maxBytes / 1024 ** 2} MiB.`);
  // The log is copied after the database, so that it contains everything that SQLite has moved from it meanwhile.
  await copyBytes(before.database, copy);
  await copyBytes(before.journal, `${copy}-journal`);
  await copyBytes(before.wal, `${copy}-wal`);
  const after = await openFiles(folder, name);
  await using __ = after;
  return isConsistent(state, await readState(after), startedAt) ? state.bytes : null;
}

/** Replaces the copy. Its owner can read it, whatever permissions the file has. */
async function copyBytes(file: FileHandle | null, copy: string): Promise<void> {
  await rm(copy, { force: true });
  if (file === null) return;
  await copyFile(pathOf(file), copy, constants.COPYFILE_FICLONE);
  await chmod(copy, 0o600);
}

interface DatabaseFiles extends AsyncDisposable {
  database: FileHandle | null;
  journal: FileHandle | null;
  wal: FileHandle | null;
}

async function openFiles(folder: string, name: string): Promise<DatabaseFiles> {
  await using opening = new AsyncDisposableStack();
  const openFile = async (suffix: string) => opening.use(await openBeneath(folder, name + suffix));
  const files = { database: await openFile(""), journal: await openFile("-journal"), wal: await openFile("-wal") };
  const opened = opening.move();
  return { ...files, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

interface FilesState {
  bytes: number;
  /** When a file changed last. */
  changedAtMs: number;
  /** Which files exist, with their sizes and the times of their changes. */
  stamp: string;
  /** The header of the write-ahead log; `null` if there is none. It is different after each reset of the log. */
  walHeader: string | null;
  /** The change counter, if there is neither a write-ahead log nor a rollback journal in use; otherwise `null`. */
  idleCounter: number | null;
}

async function readState({ database, journal, wal }: DatabaseFiles): Promise<FilesState> {
  const stats = await Promise.all([database, journal, wal].map(async (file) => file?.stat({ bigint: true })));
  const header = await readBeginning(wal, WAL_HEADER_BYTES);
  const databaseHeader = await readBeginning(database, DATABASE_HEADER_BYTES);
  const usesWal = databaseHeader?.[WRITE_VERSION] === WAL_VERSION;
  const journalHeader = await readBeginning(journal, JOURNAL_HEADER_BYTES);
  const isIdle = !usesWal && (journalHeader === null || journalHeader.every((byte) => byte === 0));
  return {
    bytes: stats.reduce((sum, each) => sum + Number(each?.size ?? 0), 0),
    changedAtMs: Math.max(...stats.map((each) => Number(each?.mtimeMs ?? 0))),
    stamp: stats.map((each) => (each ? `${each.ino} ${each.size} ${each.mtimeNs}` : "-")).join("\n"),
    idleCounter: isIdle ? (databaseHeader?.readUInt32BE(CHANGE_COUNTER) ?? null) : null,
    walHeader: usesWal ? (header?.toString("latin1") ?? null) : null,
  };
}

/** Returns `null` for a file that is shorter. */
async function readBeginning(file: FileHandle | null, length: number): Promise<Buffer | null> {
  const read = await file?.read(Buffer.alloc(length), 0, length, 0);
  return read?.bytesRead === length ? read.buffer : null;
}

/**
 * Whether a copy is as the files were at one moment.
 *
 * With a write-ahead log, SQLite changes the database only by moving committed pages of the log to it, and the log itself
 * only at its end, until it resets it, which changes its header. So while the header stays, the copied log replaces every
 * page of the database that may have changed. Otherwise nothing may have changed at all. What changed within a step of the clock shows in
 * the change counter, or in a journal.
 */
function isConsistent(before: FilesState, after: FilesState, startedAt: number): boolean {
  if (before.walHeader !== null && before.walHeader === after.walHeader) return true;
  if (before.stamp !== after.stamp) return false;
  if (before.changedAtMs < startedAt - CLOCK_STEP_MS) return true;
  return before.idleCounter !== null && before.idleCounter === after.idleCounter;
}
