import { once } from "node:events";
import http from "node:http";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { parseJson } from "../../../../../domain/shared/json.ts";
import { readBody } from "../../../../http/read-body.ts";
import type { AppProcess } from "../../app-process.ts";
import { isolatedWorker } from "../../databases/database-worker.ts";
import type { WorkerdLaunch, WorkerLauncher } from "../../workerd/workerd-launcher.ts";

/**
 * Runs in workerd, which has the data open. A batch is one transaction. The values of keys are bodies, and what belongs to them is in a
 * header, so both are of the same moment.
 */
const SCRIPT = `
export default {
  async fetch(request, env) {
    try {
      return await respond(request, env);
    } catch (error) {
      return Response.json({ error: String(error.message) });
    }
  },
};

async function respond(request, env) {
  const { pathname } = new URL(request.url);
  if (pathname === "/query") return Response.json({ value: await query(env.DB, await request.json()) });
  const { store, ...options } = JSON.parse(decodeURIComponent(request.headers.get("x-options")));
  const Kind = store.startsWith("KV") ? Namespace : Bucket;
  return await new Kind(env[store])[pathname.slice(1)](options, request);
}

async function query(database, statements) {
  const prepared = statements.map(({ sql, params = [] }) => database.prepare(sql).bind(...params.map(toParameter)));
  const results = await database.batch(prepared);
  const rows = results.map(({ results }) => results.map((row) => Object.values(row).map(toValue)));
  return { rows, bytes: results.at(-1).meta.size_after };
}

function toParameter(value) {
  return value?.blob === undefined ? value : Uint8Array.fromBase64(value.blob);
}

function toValue(value) {
  return Array.isArray(value) ? { blob: new Uint8Array(value).toBase64() } : value;
}

const respondWith = (body, entry) => new Response(body, { headers: { "x-entry": encodeURIComponent(JSON.stringify(entry)) } });
const missing = () => new Response(null, { status: 404 });

class Namespace {
  constructor(kv) {
    this.kv = kv;
  }

  async list({ cursor }) {
    const page = await this.kv.list({ limit: 500, cursor: cursor ?? undefined });
    const entries = page.keys.map(({ name, expiration }) => ({ key: name, ...(expiration && { expiration }) }));
    return Response.json({ value: { entries, cursor: page.list_complete ? null : page.cursor } });
  }

  async read({ key, expiration }) {
    const { value, metadata } = await this.kv.getWithMetadata(key, "arrayBuffer");
    return value === null ? missing() : respondWith(value, { key, metadata, ...(expiration && { expiration }) });
  }

  async write({ key, metadata, expiration }, request) {
    await this.kv.put(key, await request.arrayBuffer(), { metadata: metadata ?? undefined, expiration });
    return Response.json({ value: null });
  }

  async remove({ keys }) {
    for (const key of keys) await this.kv.delete(key);
    return Response.json({ value: null });
  }
}

class Bucket {
  constructor(r2) {
    this.r2 = r2;
  }

  async list({ cursor }) {
    const page = await this.r2.list({ limit: 500, cursor: cursor ?? undefined });
    const entries = page.objects.map(({ key, ssecKeyMd5 }) => ({ key, ...(ssecKeyMd5 && { isLocked: true }) }));
    return Response.json({ value: { entries, cursor: page.truncated ? page.cursor : null } });
  }

  async read({ key }) {
    const object = await this.r2.get(key);
    if (object === null) return missing();
    const { httpMetadata, customMetadata, size } = object;
    const { md5, ...checksums } = object.checksums.toJSON();
    const { readable, writable } = new FixedLengthStream(size);
    object.body.pipeTo(writable).catch(() => undefined);
    return respondWith(readable, { key, httpMetadata, customMetadata, checksums });
  }

  async write({ key, httpMetadata, customMetadata, checksums }, request) {
    const { cacheExpiry, ...http } = httpMetadata;
    const [checksum] = Object.entries(checksums);
    await this.r2.put(key, request.body ?? "", {
      httpMetadata: { ...http, ...(cacheExpiry && { cacheExpiry: new Date(cacheExpiry) }) },
      customMetadata,
      ...(checksum && { [checksum[0]]: checksum[1] }),
    });
    return Response.json({ value: null });
  }

  async remove({ keys }) {
    await this.r2.delete(keys);
    return Response.json({ value: null });
  }
}`;

/** A value of SQLite, as `sql-rows.ts` encodes it. */
const valueSchema = z.union([z.null(), z.number(), z.string(), z.object({ blob: z.base64() })]);
const queryResult = z.object({ rows: z.array(z.array(z.array(valueSchema))), bytes: z.number() });
const entrySchema = z.looseObject({
  key: z.string(),
  /** In seconds since 1970. */
  expiration: z.number().optional(),
  /** Whether only the app has the key that decrypts it. */
  isLocked: z.boolean().optional(),
});
const pageSchema = z.object({ entries: z.array(entrySchema), cursor: z.string().nullable() });
const responseSchema = z.union([z.object({ value: z.unknown() }), z.object({ error: z.string() })]);

export type SqlValue = z.infer<typeof valueSchema>;
export type StoreEntry = z.infer<typeof entrySchema>;

export interface Statement {
  sql: string;
  params?: readonly SqlValue[];
}

/** The stores of an app that a data worker opens: the database as `DB`, others by the names of their bindings. */
export interface OpenedStores {
  /** The id of the database; absent if it is not opened. */
  databaseId?: string;
  /** Names of namespaces, as they are stored. */
  keyValue: readonly string[];
  objects: readonly string[];
}

/** A page of results is much smaller. */
const MAX_RESPONSE_BYTES = 256 * 1024 ** 2;
const SILENCE_MS = 5 * 60_000;
/** workerd accepts as much. */
const MAX_HEADER_BYTES = 128 * 1024;

/** Reads and writes the stores of an app in a workerd in the sandbox. */
export class DataWorker implements AsyncDisposable {
  readonly #process: AppProcess & { port: number };
  readonly #signal: AbortSignal;

  private constructor(process: AppProcess & { port: number }, signal: AbortSignal) {
    this.#process = process;
    this.#signal = signal;
  }

  static async start(
    launcher: WorkerLauncher,
    stores: OpenedStores,
    launch: Pick<WorkerdLaunch, "storageDirectory" | "databaseDirectory"> & { databaseId?: string },
    signal: AbortSignal,
  ): Promise<DataWorker> {
    const worker = {
      ...isolatedWorker(SCRIPT),
      ...(stores.databaseId !== undefined && { d1Databases: { DB: stores.databaseId } }),
      kvNamespaces: Object.fromEntries(bindingsOf("KV", stores.keyValue)),
      r2Buckets: Object.fromEntries(bindingsOf("R2", stores.objects)),
    };
    return new DataWorker(await launcher.start({ worker, assetsDirectory: null, ...launch }, signal), signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.shutDown();
  }

  /** Runs statements in one transaction. @returns the rows of each, and the size of the database */
  async query(statements: readonly Statement[]): Promise<{ rows: SqlValue[][][]; bytes: number }> {
    return queryResult.parse(await this.#call("/query", {}, JSON.stringify(statements)));
  }

  async *list(binding: string): AsyncGenerator<StoreEntry[]> {
    let cursor: string | null = null;
    do {
      const page: z.infer<typeof pageSchema> = pageSchema.parse(await this.#call("/list", { store: binding, cursor }));
      yield page.entries;
      cursor = page.cursor;
    } while (cursor !== null);
  }

  /** @returns `null` for a key that does not exist any more */
  async read(binding: string, listed: StoreEntry): Promise<{ entry: StoreEntry; size: number; body: Readable } | null> {
    const response = await this.#send("/read", { ...listed, store: binding });
    const header = response.headers["x-entry"];
    if (typeof header !== "string") {
      if (response.statusCode === 404) return (void response.resume(), null);
      await readValue(response);
      throw new Error("A value has no description");
    }
    const entry = entrySchema.parse(parseJson(decodeURIComponent(header)));
    return { entry, size: Number(response.headers["content-length"] ?? 0), body: response };
  }

  async write(binding: string, entry: StoreEntry, { size, body }: { size: number; body: Readable }): Promise<void> {
    await readValue(await this.#send("/write", { ...entry, store: binding }, body, size));
  }

  async remove(binding: string, keys: readonly string[]): Promise<void> {
    if (keys.length > 0) await this.#call("/remove", { store: binding, keys });
  }

  async #call(path: string, options: object, body?: string): Promise<unknown> {
    return readValue(await this.#send(path, options, body));
  }

  async #send(path: string, options: object, body?: string | Readable, size?: number): Promise<http.IncomingMessage> {
    const request = http.request({
      ...{ host: "127.0.0.1", port: this.#process.port, path, method: "POST", agent: false },
      headers: {
        "x-options": encodeURIComponent(JSON.stringify(options)),
        ...(size !== undefined && { "content-length": size }),
      },
      ...{ maxHeaderSize: MAX_HEADER_BYTES, timeout: SILENCE_MS, signal: this.#signal },
    });
    request.once("timeout", () => request.destroy(new Error("the worker that copies the data does not respond")));
    const responding = once(request, "response") as Promise<[http.IncomingMessage]>;
    if (typeof body === "object") pipeline(body, request).catch(() => undefined);
    else request.end(body);
    const [response] = await responding;
    return response;
  }
}

/** The bindings of stores, with their names. */
export function bindingsOf(kind: "KV" | "R2", names: readonly string[]): [string, string][] {
  return names.map((name, at) => [`${kind}${at}`, name]);
}

async function readValue(response: http.IncomingMessage): Promise<unknown> {
  const text = await readBody(response, MAX_RESPONSE_BYTES);
  if (text === null) throw new Error("The response of the worker that copies the data is too large");
  const parsed = responseSchema.parse(parseJson(text.toString("utf8")));
  if ("error" in parsed) throw new DataError(parsed.error.replace(/^(D1_\w+: )+/, ""));
  return parsed.value;
}

/** The data does not permit an operation. */
export class DataError extends Error {
  override readonly name = "DataError";
}
