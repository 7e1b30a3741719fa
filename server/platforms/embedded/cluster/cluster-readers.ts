import { z } from "zod";
import {
  type AppEntries,
  ENTRY_LIMITS,
  type EntryPage,
  type EntryStore,
  type EntryValue,
  type StoredEntry,
} from "../../../../domain/ports/app-entries.ts";
import { DATABASE_LIMITS } from "../../../../domain/ports/app-databases.ts";
import type { StoredApp } from "../../../../domain/ports/app-storage.ts";
import { ServiceError } from "../../../../domain/shared/errors.ts";
import { describeD1, queryD1, type RunStatements } from "../../shared/d1-reader.ts";
import { decodeBeginning } from "../../shared/decode-beginning.ts";
import { findStore } from "../../shared/find-store.ts";
import type { DeclaredStore } from "../../shared/worker-bindings.ts";
import type { DatabaseReader } from "../app-databases/embedded-app-databases.ts";
import { isolatedWorker } from "../databases/database-worker.ts";
import type { Scripts } from "../scripts/script-store.ts";
import { readDeclaredStores } from "../storage/embedded-app-entries.ts";
import type { WorkerOptions } from "../workerd/worker-options.ts";
import type { WorkerLauncher } from "../workerd/workerd-launcher.ts";

/** Runs in a member of the cluster of an app. Values are cut there, so that large ones stay where they are. */
const SCRIPT = `
export default {
  async fetch(request, env) {
    const { connect, statements, list, read } = await request.json();
    try {
      if (connect) return Response.json({ value: await reach(env) });
      if (statements) return Response.json({ value: await run(env.DB, statements) });
      const store = new Store(env);
      return Response.json({ value: list ? await store.list(list) : await store.read(read.key, read.bytes) });
    } catch (error) {
      return Response.json({ error: String(error.message) });
    }
  },
};

/** Waits until the process that has the stores responds. */
async function reach({ DB, KV, R2 }) {
  await (DB ? run(DB, ["SELECT 1"]) : (KV ?? R2).list({ limit: 1 }));
  return null;
}

async function run(database, statements) {
  const results = [];
  for (const sql of statements) {
    const startedAt = Date.now();
    const [columns, ...rows] = await database.prepare(sql).raw({ columnNames: true });
    results.push({ columns: columns ?? [], rows, durationMs: Date.now() - startedAt });
  }
  return results;
}

class Store {
  constructor({ KV, R2 }) {
    this.kv = KV;
    this.r2 = R2;
  }

  async list({ prefix, after, limit }) {
    if (this.r2) {
      const { objects } = await this.r2.list({ prefix, limit, include: ["httpMetadata"], ...(after !== null && { startAfter: after }) });
      return objects.map(({ key, size, uploaded, httpMetadata }) =>
        ({ key, bytes: size, expiration: null, uploaded: +uploaded, type: httpMetadata?.contentType ?? null }));
    }
    const cursor = after === null ? undefined : encode(after);
    const { keys } = await this.kv.list({ prefix, limit, cursor });
    const entries = [];
    for (const { name, expiration } of keys) {
      const { bytes } = await beginning(await this.kv.get(name, "stream"), 0);
      entries.push({ key: name, bytes, expiration: expiration ?? null, uploaded: null, type: null });
    }
    return entries;
  }

  async read(key, limit) {
    const object = this.r2 ? await this.r2.get(key) : null;
    const stream = this.r2 ? object?.body : await this.kv.get(key, "stream");
    return stream ? beginning(stream, limit) : null;
  }
}

async function beginning(stream, limit) {
  const kept = [];
  let bytes = 0;
  for await (const chunk of stream ?? []) {
    if (bytes < limit) kept.push(...chunk.subarray(0, limit - bytes));
    bytes += chunk.length;
  }
  return { bytes, beginning: kept };
}

function encode(text) {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}`;

const response = z.union([z.object({ value: z.unknown() }), z.object({ error: z.string() })]);
const rawResults = z.array(
  z.object({ columns: z.array(z.string()), rows: z.array(z.array(z.unknown())), durationMs: z.number() }),
);
const entryRows = z.array(
  z.object({
    key: z.string(),
    bytes: z.number(),
    expiration: z.number().nullable(),
    uploaded: z.number().nullable(),
    type: z.string().nullable(),
  }),
);
const valueBeginning = z.object({ bytes: z.number(), beginning: z.array(z.number()) }).nullable();

type Stores = Pick<WorkerOptions, "d1Databases" | "kvNamespaces" | "r2Buckets">;

interface ReaderDeps {
  launcher: WorkerLauncher;
  scripts: Pick<Scripts, "live">;
}

/** Runs one request in a process that is a member of the cluster of an app as long as the request. */
async function request(
  launcher: WorkerLauncher,
  { databaseId, stores, body }: { databaseId: string; stores: Stores; body: object },
  signal: AbortSignal,
): Promise<unknown> {
  const folders = { storageDirectory: null, databaseDirectory: null, assetsDirectory: null };
  const worker = { ...isolatedWorker(SCRIPT), ...stores };
  const process = await launcher.start({ worker, databaseId, ...folders }, signal);
  try {
    await send(process.port, { connect: true }, NOT_REACHED, signal);
    const answer = response.parse(await send(process.port, body, TOO_LONG, signal));
    if ("error" in answer) throw new ServiceError("invalid", `sql: ${answer.error.replace(/^(D1_\w+: )+/, "")}`);
    return answer.value;
  } finally {
    await process.shutDown();
  }
}

/** How long a request may take, and what the caller is told after that. */
interface TimeLimit {
  ms: number;
  code: "unavailable" | "invalid";
  message: string;
}

/** Finding another machine, or starting the app on this one, is no part of a statement. */
const NOT_REACHED: TimeLimit = {
  ms: 60_000,
  code: "unavailable",
  message: "The machine that runs the app did not respond within 60 s. Try again.",
};
const TOO_LONG: TimeLimit = {
  ms: DATABASE_LIMITS.statementMs,
  code: "invalid",
  message: `sql: the statement took longer than ${DATABASE_LIMITS.statementMs / 1000} s and was stopped.`,
};

async function send(
  port: number,
  body: object,
  { ms, code, message }: TimeLimit,
  signal: AbortSignal,
): Promise<unknown> {
  const timeout = AbortSignal.timeout(ms);
  try {
    const init = { method: "POST", body: JSON.stringify(body), signal: AbortSignal.any([signal, timeout]) };
    return await (await fetch(`http://127.0.0.1:${port}/`, init)).json();
  } catch (cause) {
    signal.throwIfAborted();
    throw timeout.aborted ? new ServiceError(code, message, { cause }) : cause;
  }
}

/** Reads the SQL database of a Worker through its cluster. */
export function clusterDatabaseReader(
  { launcher, databaseId }: { launcher: WorkerLauncher; databaseId: string },
  measure: () => Promise<number>,
): DatabaseReader {
  const run: RunStatements = async (statements, signal) =>
    rawResults.parse(
      await request(
        launcher,
        { databaseId, stores: { d1Databases: { DB: databaseId } }, body: { statements } },
        signal,
      ),
    );
  return {
    async describe(signal) {
      return { bytes: await measure(), ...(await describeD1(run, signal)) };
    },
    query: (query, signal) => queryD1(run, query, signal),
  };
}

interface Location extends DeclaredStore {
  databaseId: string;
}

/** Reads the key-value namespaces and object buckets of Workers through their clusters. */
export class ClusterAppEntries implements AppEntries {
  readonly #deps: ReaderDeps;

  constructor(deps: ReaderDeps) {
    this.#deps = deps;
  }

  async listStores(app: StoredApp): Promise<EntryStore[]> {
    return (await this.#find(app)).map(({ kind, name }) => ({ kind, name }));
  }

  async list(app: StoredApp, store: EntryStore, page: EntryPage, signal: AbortSignal): Promise<StoredEntry[]> {
    const rows = entryRows.parse(await this.#request(app, store, { list: page }, signal));
    return rows.map(({ key, bytes, expiration, uploaded, type }) => ({
      key,
      bytes,
      expires_at: expiration === null ? null : new Date(expiration * 1000).toISOString(),
      uploaded_at: uploaded === null ? null : new Date(uploaded).toISOString(),
      content_type: type,
    }));
  }

  async read(app: StoredApp, store: EntryStore, key: string, signal: AbortSignal): Promise<EntryValue | null> {
    const body = { read: { key, bytes: ENTRY_LIMITS.valueBytes } };
    const value = valueBeginning.parse(await this.#request(app, store, body, signal));
    return value && decodeBeginning(Buffer.from(value.beginning), value.bytes);
  }

  async #request(app: StoredApp, store: EntryStore, body: object, signal: AbortSignal): Promise<unknown> {
    const { databaseId, kind, storageName } = findStore(await this.#find(app), store);
    const stores = kind === "key_value" ? { kvNamespaces: { KV: storageName } } : { r2Buckets: { R2: storageName } };
    return request(this.#deps.launcher, { databaseId, stores, body }, signal);
  }

  async #find({ slug, appId }: StoredApp): Promise<Location[]> {
    const live = await this.#deps.scripts.live(slug);
    if (live?.appId !== appId) return [];
    return (await readDeclaredStores(live)).map((store) => ({ ...store, databaseId: live.databaseId }));
  }
}
