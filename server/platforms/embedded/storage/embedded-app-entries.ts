import { createHash, createHmac } from "node:crypto";
import path from "node:path";
import { z } from "zod";
import {
  type AppEntries,
  ENTRY_LIMITS,
  type EntryPage,
  type EntryStore,
  type EntryValue,
  type StoredEntry,
} from "../../../../domain/ports/app-entries.ts";
import type { DatabaseQuery } from "../../../../domain/ports/app-databases.ts";
import type { StoredApp } from "../../../../domain/ports/app-storage.ts";
import { ServiceError } from "../../../../domain/shared/errors.ts";
import { decodeBeginning } from "../../shared/decode-beginning.ts";
import { findStore } from "../../shared/find-store.ts";
import type { DatabaseLocation } from "../app-databases/copy-database.ts";
import { openBeneath } from "../app-databases/open-beneath.ts";
import type { SqliteReader } from "../app-databases/sqlite-reader.ts";
import type { ScriptVersion } from "../script-version.ts";
import type { Scripts } from "../scripts/script-store.ts";
import { STORAGE_FOLDERS, UNIQUE_KEYS } from "../workerd/storage-services.ts";
import { readUploadForm } from "../../shared/upload-form.ts";
import { type DeclaredStore, declaredStores } from "../../shared/worker-bindings.ts";

interface EmbeddedAppEntriesOptions {
  store: Pick<Scripts, "live">;
  sqlite: SqliteReader;
}

/** Where Miniflare keeps a kind of store, and how its table is read. */
const LAYOUTS = {
  key_value: {
    folder: STORAGE_FOLDERS.keyValue,
    className: UNIQUE_KEYS.keyValue,
    // An expiration is in milliseconds.
    rows: `select key, blob_id, null as size, expiration, null as uploaded, null as content_type from _mf_entries
      where (expiration is null or expiration > cast(unixepoch('subsec') * 1000 as integer))`,
  },
  objects: {
    folder: STORAGE_FOLDERS.objects,
    className: UNIQUE_KEYS.objects,
    // What was uploaded in parts has no blob of its own: it begins with its first part.
    rows: `select key, coalesce(blob_id, (select part.blob_id from _mf_multipart_parts part where part.object_key = _mf_objects.key
      order by part.part_number limit 1)) as blob_id, size, null as expiration, uploaded,
      json_extract(http_metadata, '$.contentType') as content_type from _mf_objects where true`,
  },
} as const;

/** A row of `LAYOUTS`. The app may have written anything into the file. */
const rowSchema = z.tuple([
  z.string(),
  z.string().nullable(),
  z.int().nonnegative().nullable(),
  z.int().nullable(),
  z.int().nullable(),
  z.string().nullable(),
]);

interface Location {
  /** The folder of all stores of this kind of the app. */
  folder: string;
  /** The paths below it. */
  database: string;
  blobs: string;
}

/** Reads the key-value namespaces and object buckets of the Workers on this machine. */
export class EmbeddedAppEntries implements AppEntries {
  readonly #options: EmbeddedAppEntriesOptions;

  constructor(options: EmbeddedAppEntriesOptions) {
    this.#options = options;
  }

  async listStores(app: StoredApp): Promise<EntryStore[]> {
    return (await this.#find(app)).map(({ kind, name }) => ({ kind, name }));
  }

  async list(
    app: StoredApp,
    store: EntryStore,
    { prefix, after, limit }: EntryPage,
    signal: AbortSignal,
  ): Promise<StoredEntry[]> {
    const location = await this.#locate(app, store);
    const conditions = [`substr(key, 1, length(${quote(prefix)})) = ${quote(prefix)}`];
    if (after !== null) conditions.push(`key > ${quote(after)}`);
    const sql = `${LAYOUTS[store.kind].rows} and ${conditions.join(" and ")} order by key limit ${limit}`;
    const rows = await this.#query(location, sql, limit, signal);
    return Promise.all(rows.map((row) => toEntry(location, row)));
  }

  async read(app: StoredApp, store: EntryStore, key: string, signal: AbortSignal): Promise<EntryValue | null> {
    const location = await this.#locate(app, store);
    const [row] = await this.#query(location, `${LAYOUTS[store.kind].rows} and key = ${quote(key)}`, 1, signal);
    if (row === undefined) return null;
    await using blob = await openBlob(location, row[1]);
    if (blob === null) return null;
    const { buffer, bytesRead } = await blob.read(Buffer.alloc(ENTRY_LIMITS.valueBytes), 0, ENTRY_LIMITS.valueBytes, 0);
    return decodeBeginning(buffer.subarray(0, bytesRead), row[2] ?? (await blob.stat()).size);
  }

  async #query(location: Location, sql: string, limit: number, signal: AbortSignal): Promise<Row[]> {
    const database = { folder: location.folder, name: location.database };
    const file = await openBeneath(database.folder, database.name);
    // A store that the app has not used yet.
    if (file === null) return [];
    await file.close();
    const parsed = z.array(rowSchema).safeParse(await this.#readRows(database, { sql, limit }, signal));
    if (parsed.success) return parsed.data;
    throw unreadable();
  }

  /** The statement is ours, so what it cannot read is the storage's fault. */
  async #readRows(database: DatabaseLocation, query: DatabaseQuery, signal: AbortSignal): Promise<unknown[]> {
    try {
      return (await this.#options.sqlite.query(database, query, signal)).rows;
    } catch (error) {
      throw error instanceof ServiceError && error.code === "invalid" ? unreadable() : error;
    }
  }

  async #locate(app: StoredApp, store: EntryStore): Promise<Location> {
    return findStore(await this.#find(app), store).location;
  }

  async #find({ slug, appId }: StoredApp): Promise<(EntryStore & { location: Location })[]> {
    const live = await this.#options.store.live(slug);
    if (live?.appId !== appId) return [];
    return (await readDeclaredStores(live)).map(({ kind, name, storageName }) => {
      const { folder, className } = LAYOUTS[kind];
      return {
        ...{ kind, name },
        location: {
          folder: path.join(live.storageDirectory, folder),
          database: `${className}/${objectId(className, storageName)}.sqlite`,
          blobs: `${storageName}/blobs`,
        },
      };
    });
  }
}

/** The namespaces and buckets that a version declares. A Node server has none. */
export async function readDeclaredStores({ code }: Pick<ScriptVersion, "code">): Promise<DeclaredStore[]> {
  return code.runtime === "node" ? [] : declaredStores((await readUploadForm(code.formPath)).metadata.bindings);
}

function unreadable(): ServiceError {
  return new ServiceError("conflict", "The storage is damaged, or has too many entries to be read within 10 seconds.");
}

type Row = z.output<typeof rowSchema>;

async function toEntry(location: Location, [key, blobId, size, expiration, uploaded, type]: Row): Promise<StoredEntry> {
  await using blob = size === null ? await openBlob(location, blobId) : null;
  return {
    key,
    bytes: size ?? (await blob?.stat())?.size ?? 0,
    expires_at: toTimestamp(expiration),
    uploaded_at: toTimestamp(uploaded),
    content_type: type,
  };
}

function toTimestamp(milliseconds: number | null): string | null {
  const date = new Date(milliseconds ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

async function openBlob({ folder, blobs }: Location, id: string | null) {
  return id === null || id.includes("/") ? null : openBeneath(folder, `${blobs}/${id}`);
}

/** The text as a value of SQLite, whatever characters it has. */
function quote(text: string): string {
  return `cast(x'${Buffer.from(text).toString("hex")}' as text)`;
}

/** The id that workerd gives to the durable object with a name, in which Miniflare keeps a store. */
export function objectId(className: string, name: string): string {
  const nameHmac = objectHmac(className, name);
  return Buffer.concat([nameHmac, objectHmac(className, nameHmac)]).toString("hex");
}

/** Whether workerd gave an id to a durable object of a class. */
export function isObjectOf(className: string, id: string): boolean {
  return objectHmac(className, Buffer.from(id.slice(0, 32), "hex")).toString("hex") === id.slice(32);
}

function objectHmac(className: string, text: string | Buffer): Buffer {
  const key = createHash("sha256").update(className).digest();
  return createHmac("sha256", key).update(text).digest().subarray(0, 16);
}
