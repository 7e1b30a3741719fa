import type { FileHandle } from "node:fs/promises";
import path from "node:path";
import { isSqlite } from "../app-databases/find-sqlite-files.ts";
import { listBeneath, openBeneath } from "../app-databases/open-beneath.ts";
import type { RecordSink } from "../runtime-logs/record-sink.ts";

/** Packages have no databases that a server changes. */
const SEARCH = { entries: 5000, depth: 16, leftOut: ["node_modules", ".git"] };
const MAX_REPORTED = 10;
/** The next start of the app waits for the search. */
const SEARCH_MS = 1000;
/** A larger database that was written to counts as changed. */
const MAX_COMPARED_BYTES = 16 * 1024 * 1024;

/** The files of a server whose processes have ended. */
interface EndedServerFiles {
  /** The folder with what the server has written, and possibly the rest of its files. */
  written: string;
  /** The folders with what was deployed, the uppermost first. */
  layers: readonly string[];
}

/** Says in the log of an app which SQLite databases it has created or changed in the folder of its code, which is removed. */
export async function reportLostDatabases(files: EndedServerFiles, records: RecordSink): Promise<void> {
  // How the server ended is known without this report.
  for (const file of await findLostDatabases(files).catch(() => [])) {
    const kept = JSON.stringify(`/data/${path.basename(file)}`);
    const message = `What the server wrote to the SQLite database ${JSON.stringify(file)} is lost, because the folder of its code is new at each start. Files below /data stay: use a path such as ${kept}.`;
    records.print([Date.now(), "warn", null, message]);
  }
}

async function findLostDatabases({ written, layers }: EndedServerFiles): Promise<string[]> {
  const found: string[] = [];
  const deadline = Date.now() + SEARCH_MS;
  for (const name of await listBeneath(written, SEARCH)) {
    await using file = await openBeneath(written, name);
    if (file !== null && (await isSqlite(file)) && (await isChanged({ file, name }, written, layers))) found.push(name);
    if (found.length === MAX_REPORTED || Date.now() > deadline) break;
  }
  return found;
}

/** A database that was only opened is among the written files too. Until a checkpoint, changes are in the write-ahead log beside it. */
async function isChanged(
  { file, name }: { file: FileHandle; name: string },
  written: string,
  layers: readonly string[],
): Promise<boolean> {
  await using log = await openBeneath(written, `${name}-wal`);
  if (log !== null && (await log.stat()).size > 0) return true;
  for (const layer of layers) {
    await using original = await openBeneath(layer, name);
    if (original !== null) return !(await haveSameBytes(original, file));
  }
  return true;
}

async function haveSameBytes(one: FileHandle, other: FileHandle): Promise<boolean> {
  const [first, second] = await Promise.all([one.stat(), other.stat()]);
  if (first.size !== second.size) return false;
  // A copy keeps the time.
  if (first.mtimeMs === second.mtimeMs) return true;
  if (first.size > MAX_COMPARED_BYTES) return false;
  return (await readBytes(one, first.size)).equals(await readBytes(other, first.size));
}

async function readBytes(file: FileHandle, size: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 0);
  return buffer.subarray(0, bytesRead);
}
