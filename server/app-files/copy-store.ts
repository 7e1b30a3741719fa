import { copyFile, type FileHandle, link, readdir } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openBeneath, pathOf } from "../platforms/embedded/app-databases/open-beneath.ts";
import type { SqliteReader } from "../platforms/embedded/app-databases/sqlite-reader.ts";
import { openFolder } from "./tree-files.ts";

/** How often a copy is tried. Each time, values that were there before are in `links` already. */
const TRIES = 10;
const PAUSE_MS = 50;
/** Of one read of a database. An id of a value has 80 characters. */
const IDS_PER_READ = 8000;

/** The tables of Miniflare that name values, in the databases of key-value namespaces and object buckets. */
const TABLES = {
  kv: ["_mf_entries"],
  r2: ["_mf_objects", "_mf_multipart_parts"],
} as const;

/** A kind of store: key-value namespaces or object buckets. */
export type StoreKind = keyof typeof TABLES;

export interface StoreCopyOptions {
  sqlite: Pick<SqliteReader, "query">;
  /** An empty folder in which values are linked, on the disk of the store. */
  links: string;
  /** Copies all databases of the store. Returns the copies. */
  copyDatabases(): Promise<{ folder: string; name: string }[]>;
  signal: AbortSignal;
}

/** The values that belong to the copied databases, by their path below the folder of the store. */
export interface StoreCopy {
  values: Map<string, string>;
  /** Whether every value that a row names is there. */
  isComplete: boolean;
}

/**
 * Copies a store while an app changes it. The rows of its databases name values, which are files that are written once and removed when
 * no row names them any more. So the databases are copied first, and then the values are linked, which is faster than a copy. If values
 * were added or removed meanwhile, the rows of the copy decide whether one is missing. Then all is tried again.
 *
 * @param folder - the folder of the store: databases, and `<namespace>/blobs/<id>`
 */
export async function copyStore(kind: StoreKind, folder: string, options: StoreCopyOptions): Promise<StoreCopy> {
  const linked = new Map<string, string>();
  for (let tries = 1; ; tries++) {
    options.signal.throwIfAborted();
    const before = await stateOf(folder);
    const copies = await options.copyDatabases();
    const present = await linkValues(folder, options.links, linked);
    if (before === (await stateOf(folder))) return { values: select(linked, present), isComplete: true };
    const named = await readIds(kind, copies, options);
    if (named !== null && isSubset(named, linked)) return { values: select(linked, named), isComplete: true };
    if (tries === TRIES) return { values: select(linked, present), isComplete: false };
    await sleep(PAUSE_MS, null, { signal: options.signal });
  }
}

/** The open folders with values, by their path below the folder of the store. No link is followed. A handle is valid until the next one. */
async function* valueFolders(folder: string): AsyncGenerator<{ name: string; values: FileHandle }> {
  await using root = await openFolder(folder);
  if (root === null) return;
  for (const name of (await readdir(pathOf(root))).toSorted()) {
    await using namespace = await openFolder(`${pathOf(root)}/${name}`);
    await using values = namespace === null ? null : await openFolder(`${pathOf(namespace)}/blobs`);
    if (values !== null) yield { name: `${name}/blobs`, values };
  }
}

/** Changes when a value is added or removed. The time of a folder has a resolution of some milliseconds, so it must be older than that. */
async function stateOf(folder: string): Promise<string> {
  let newest = 0;
  const states: string[] = [];
  for await (const { name, values } of valueFolders(folder)) {
    const { mtimeMs, mtimeNs } = await values.stat({ bigint: true });
    newest = Math.max(newest, Number(mtimeMs));
    states.push(`${name} ${mtimeNs}`);
  }
  // A recent state is never equal to another one.
  return Date.now() - newest < PAUSE_MS ? `${performance.now()}` : states.join("\n");
}

/** Links new values. Returns the ids of all that are there. */
async function linkValues(folder: string, links: string, linked: Map<string, string>): Promise<Set<string>> {
  const present = new Set<string>();
  for await (const { name, values } of valueFolders(folder))
    for (const id of await readdir(pathOf(values))) {
      if (!linked.has(id) && !(await linkOrCopy(values, id, path.join(links, id)))) continue;
      present.add(id);
      linked.set(id, `${name}/${id}`);
    }
  return present;
}

/** Returns `false` if the value was removed, or is not a file. */
async function linkOrCopy(values: FileHandle, id: string, to: string): Promise<boolean> {
  await using file = await openBeneath(pathOf(values), id);
  if (file === null) return false;
  try {
    await link(`${pathOf(values)}/${id}`, to);
    return true;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return false;
    // Another disk, or a file of another user.
    if (code !== "EXDEV" && code !== "EPERM") throw error;
    await copyFile(pathOf(file), to);
    return true;
  }
}

/** Returns `null` if a copy cannot be read. It is untrusted, so it is read in the sandbox. */
async function readIds(
  kind: StoreKind,
  copies: readonly { folder: string; name: string }[],
  { sqlite, signal }: StoreCopyOptions,
): Promise<Set<string> | null> {
  const ids = new Set<string>();
  try {
    for (const copy of copies)
      for (const table of TABLES[kind])
        for (let after = ""; ;) {
          const sql = `select blob_id from ${table} where blob_id > '${after}' order by blob_id limit ${IDS_PER_READ}`;
          const { rows } = await sqlite.query(copy, { sql, limit: IDS_PER_READ }, signal);
          for (const [id] of rows) if (typeof id === "string") ids.add(id);
          const last = rows.at(-1)?.[0];
          // Ids are hexadecimal. Anything else is not of Miniflare.
          if (rows.length < IDS_PER_READ || typeof last !== "string" || !/^[0-9a-f]+$/.test(last)) break;
          after = last;
        }
    return ids;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Error && error.name === "ServiceError") return null;
    throw error;
  }
}

function isSubset(ids: ReadonlySet<string>, linked: ReadonlyMap<string, string>): boolean {
  return [...ids].every((id) => linked.has(id));
}

function select(linked: ReadonlyMap<string, string>, ids: ReadonlySet<string>): Map<string, string> {
  return new Map([...linked].filter(([id]) => ids.has(id)));
}
