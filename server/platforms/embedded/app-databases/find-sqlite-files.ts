import type { FileHandle } from "node:fs/promises";
import path from "node:path";
import type { DatabaseLocation } from "./copy-database.ts";
import { listBeneath, openBeneath } from "./open-beneath.ts";

/** How a SQLite database begins (https://www.sqlite.org/fileformat2.html). */
const MAGIC = Buffer.from("SQLite format 3\0");
const MAX_FILES = 20;

/** The path of `/data` in the sandbox of a Node server, and the file that the service names by default. */
const DATA = "/data/";
const DEFAULT_FILE = "app.db";

/** Finds the D1 database in its folder; `null` if the Worker has not used it yet. Miniflare's own database is beside it. */
export async function findWorkerDatabase(folder: string): Promise<DatabaseLocation | null> {
  const files = await listBeneath(folder);
  const name = files.find((file) => file.endsWith(".sqlite") && path.posix.basename(file) !== "metadata.sqlite");
  return name === undefined ? null : { folder, name };
}

/**
 * Finds the SQLite databases in the data folder of a Node server: first the one that its variables name, or `app.db`.
 *
 * @param values - the variables of the app
 */
export async function findSqliteFiles(folder: string, values: Readonly<Record<string, string>>): Promise<string[]> {
  const named = [namedFile(values["SQLITE_PATH"]), namedFile(values["DATABASE_URL"]), DEFAULT_FILE];
  const found: string[] = [];
  for (const name of new Set([...named, ...(await listBeneath(folder))]))
    if (name !== null && found.length < MAX_FILES && (await isSqliteAt(folder, name))) found.push(name);
  return found;
}

/** `null` for a path outside the data folder. */
function namedFile(value: string | undefined): string | null {
  const file = path.posix.normalize((value ?? "").replace(/^file:(?:\/\/)?/, "").replace(/[?].*$/s, ""));
  return file.startsWith(DATA) ? file.slice(DATA.length) : null;
}

async function isSqliteAt(folder: string, name: string): Promise<boolean> {
  await using file = await openBeneath(folder, name);
  return file !== null && isSqlite(file);
}

export async function isSqlite(file: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
  return bytesRead === MAGIC.length && buffer.equals(MAGIC);
}
