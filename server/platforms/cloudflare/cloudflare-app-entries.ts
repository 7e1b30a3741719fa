import { z } from "zod";
import {
  type AppEntries,
  ENTRY_LIMITS,
  type EntryPage,
  type EntryStore,
  type EntryValue,
  type StoredEntry,
} from "../../../domain/ports/app-entries.ts";
import type { StoredApp } from "../../../domain/ports/app-storage.ts";
import { ServiceError } from "../../../domain/shared/errors.ts";
import { decodeBeginning } from "../shared/decode-beginning.ts";
import { findStore } from "../shared/find-store.ts";
import type { CloudflareClient } from "./cloudflare-client.ts";
import { readKey } from "./key-value-namespaces.ts";
import { type NamespaceScripts, readTags } from "./namespace-scripts.ts";
import { listObjects, readObject, type StoredObject } from "./object-buckets.ts";

const KINDS: Readonly<Record<string, EntryStore["kind"]>> = { kv_namespace: "key_value", r2_bucket: "objects" };
const keyList = z.array(z.object({ name: z.string(), expiration: z.number().nullish() }));
const bulkValues = z.object({ values: z.record(z.string(), z.string().nullable()) });

/** Cloudflare's limits of one request. */
const KEYS_PER_PAGE = 1000;
const VALUES_PER_REQUEST = 100;
/** How many pages of keys are skipped at most. */
const MAX_PAGES = 20;

interface Location extends EntryStore {
  /** The id of the namespace, or the name of the bucket. */
  id: string;
}

/** Reads the key-value namespaces and buckets of apps through Cloudflare's API. */
export class CloudflareAppEntries implements AppEntries {
  readonly #client: CloudflareClient;
  readonly #scripts: NamespaceScripts;

  constructor({ client, scripts }: { client: CloudflareClient; scripts: NamespaceScripts }) {
    this.#client = client;
    this.#scripts = scripts;
  }

  async listStores(app: StoredApp): Promise<EntryStore[]> {
    return (await this.#find(app)).map(({ kind, name }) => ({ kind, name }));
  }

  async list(app: StoredApp, store: EntryStore, page: EntryPage, signal: AbortSignal): Promise<StoredEntry[]> {
    const location = await this.#locate(app, store);
    if (location.kind === "key_value") return this.#listKeys(location.id, page, signal);
    const { prefix, after, limit } = page;
    const query = { prefix, per_page: String(limit), ...(after === null ? {} : { start_after: after }) };
    return (await listObjects(this.#client, location.id, query, signal)).map(toEntry);
  }

  async read(app: StoredApp, store: EntryStore, key: string, signal: AbortSignal): Promise<EntryValue | null> {
    const { kind, id } = await this.#locate(app, store);
    const bytes = await (kind === "key_value" ? readKey : readObject)(this.#client, id, key, signal);
    return bytes && decodeBeginning(bytes.subarray(0, ENTRY_LIMITS.valueBytes), bytes.length);
  }

  /** Cloudflare lists keys from the first one on, so earlier pages are read again. */
  async #listKeys(id: string, { prefix, after, limit }: EntryPage, signal: AbortSignal): Promise<StoredEntry[]> {
    const base = { operation: "list keys", method: "GET", path: `storage/kv/namespaces/${id}/keys`, signal } as const;
    const found: z.output<typeof keyList> = [];
    let cursor: string | undefined;
    for (let page = 0; found.length < limit; page++) {
      if (page === MAX_PAGES) throw new ServiceError("conflict", "The namespace has too many keys to be listed here.");
      const query = { prefix, limit: String(KEYS_PER_PAGE), ...(cursor === undefined ? {} : { cursor }) };
      const listed = await this.#client.callPage({ ...base, query }, keyList);
      found.push(...listed.result.filter(({ name }) => after === null || isAfter(name, after)));
      cursor = listed.cursor;
      if (cursor === undefined || cursor === "") break;
    }
    const keys = found.slice(0, limit);
    const sizes = await this.#sizes(
      id,
      keys.map(({ name }) => name),
      signal,
    );
    return keys.map(({ name, expiration }) => ({
      key: name,
      bytes: sizes.get(name) ?? 0,
      expires_at: expiration == null ? null : new Date(expiration * 1000).toISOString(),
      uploaded_at: null,
      content_type: null,
    }));
  }

  /** The list of keys has no sizes. Those of values that are not UTF-8 are approximate. */
  async #sizes(id: string, keys: readonly string[], signal: AbortSignal): Promise<Map<string, number>> {
    const sizes = new Map<string, number>();
    for (let index = 0; index < keys.length; index += VALUES_PER_REQUEST) {
      const body = { keys: keys.slice(index, index + VALUES_PER_REQUEST), type: "text" };
      const path = `storage/kv/namespaces/${id}/bulk/get`;
      const { values } = await this.#client.call(
        { operation: "read keys", method: "POST", path, body, isRead: true, signal },
        bulkValues,
      );
      for (const [key, value] of Object.entries(values)) sizes.set(key, Buffer.byteLength(value ?? ""));
    }
    return sizes;
  }

  async #locate(app: StoredApp, store: EntryStore): Promise<Location> {
    return findStore(await this.#find(app), store);
  }

  async #find({ slug, appId }: StoredApp): Promise<Location[]> {
    const live = await this.#scripts.settings(slug);
    if (live === null || readTags(live.tags)?.appId !== appId) return [];
    return live.bindings.flatMap((binding) => {
      const kind = KINDS[binding.type];
      if (kind === undefined) return [];
      return [{ kind, name: binding.name, id: String(binding["namespace_id"] ?? binding["bucket_name"]) }];
    });
  }
}

/** Keys are in the order of their bytes. */
function isAfter(key: string, other: string): boolean {
  return Buffer.compare(Buffer.from(key), Buffer.from(other)) > 0;
}

function toEntry({ key, size, last_modified: modified, http_metadata: metadata }: StoredObject): StoredEntry {
  return {
    key,
    bytes: size,
    expires_at: null,
    uploaded_at: modified == null ? null : new Date(modified).toISOString(),
    content_type: metadata?.contentType ?? null,
  };
}
