import { type AppEntries, type EntryStore, type EntryValue, type StoredEntry } from "../ports/app-entries.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { decodeTextCursor, encodeTextCursor } from "../shared/keyset-cursor.ts";
import { readDatabase, type ReadDatabaseDeps } from "./read-database.ts";

export interface ReadEntriesDeps extends ReadDatabaseDeps {
  appEntries: AppEntries;
}

interface ChosenStore {
  /** The id of the app. */
  id: string;
  kind: EntryStore["kind"];
  /** The name of the namespace or bucket. */
  store: string;
}

export interface ListEntries extends ChosenStore {
  prefix?: string | undefined;
  cursor?: string | undefined;
  limit?: number | undefined;
}

export interface ListedEntries {
  entries: StoredEntry[];
  next_cursor: string | null;
}

export interface GetEntry extends ChosenStore {
  key: string;
}

export interface EntryView {
  key: string;
  value: EntryValue;
}

const DEFAULT_LIMIT = 50;

/**
 * Lists keys of a namespace, or objects of a bucket, in the order of their keys. They are data of the app.
 *
 * @throws {ServiceError} `not_found` for an unknown app or store, `invalid` for a cursor of another list, and as `readDatabase`
 */
export async function listEntries(
  deps: ReadEntriesDeps,
  caller: Caller,
  { id, kind, store: name, prefix = "", cursor, limit = DEFAULT_LIMIT }: ListEntries,
  signal: AbortSignal,
): Promise<ListedEntries> {
  const after = cursor === undefined ? null : decodeTextCursor(cursor);
  // One more shows whether there is a further page.
  const page = { prefix, after, limit: limit + 1 };
  const read = deps.appEntries.list.bind(deps.appEntries);
  const found = await readDatabase(deps, caller, id, (app) => read(app, { kind, name }, page, signal), signal);
  const entries = found.slice(0, limit);
  const last = entries.at(-1);
  return { entries, next_cursor: last === undefined || found.length <= limit ? null : encodeTextCursor(last.key) };
}

/**
 * Returns the value of a key or an object, or the first 16 KiB of it. It is data of the app.
 *
 * @throws {ServiceError} `not_found` for an unknown app, store or key, and as `readDatabase`
 */
export async function getEntry(
  deps: ReadEntriesDeps,
  caller: Caller,
  { id, kind, store: name, key }: GetEntry,
  signal: AbortSignal,
): Promise<EntryView> {
  const read = deps.appEntries.read.bind(deps.appEntries);
  const value = await readDatabase(deps, caller, id, (app) => read(app, { kind, name }, key, signal), signal);
  if (value === null)
    throw new ServiceError("not_found", `key: ${kind === "objects" ? "the bucket" : "the namespace"} has no such key.`);
  return { key, value };
}
