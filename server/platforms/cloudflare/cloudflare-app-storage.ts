import { z } from "zod";
import type { AppStorage, StoredApp, StoredBytes, StorageRestriction } from "../../../domain/ports/app-storage.ts";
import type { CloudflareClient } from "./cloudflare-client.ts";
import { isMissing } from "./cloudflare-error.ts";
import type { EdgeEntries } from "./edge-entries.ts";
import { type NamespaceScripts, readTags } from "./namespace-scripts.ts";
import { slugOf } from "./resource-names.ts";

/** A measurement takes a few requests, and the account has a limit of requests. */
const PERIOD_MS = 6 * 3600_000;

const database = z.object({ file_size: z.coerce.number().nullish() });
const usage = z.object({ payloadSize: z.coerce.number(), metadataSize: z.coerce.number() });

interface CloudflareAppStorageOptions {
  client: CloudflareClient;
  scripts: NamespaceScripts;
  entries: EdgeEntries;
}

/**
 * Measures the databases and buckets of apps. Cloudflare's API tells the size of neither key-value namespaces nor durable
 * objects, so they count as empty.
 */
export class CloudflareAppStorage implements AppStorage {
  readonly #options: CloudflareAppStorageOptions;
  /** When each app was measured last, in milliseconds since the epoch. */
  readonly #measured = new Map<string, number>();

  constructor(options: CloudflareAppStorageOptions) {
    this.#options = options;
  }

  /** Cloudflare does not tell which apps ran, so every app is listed a few times a day. */
  async listChanged(): Promise<StoredApp[]> {
    const now = Date.now();
    const all = await this.#options.scripts.list();
    const live = all.filter(({ name }) => slugOf(name) === name).map(({ name, appId }) => ({ slug: name, appId }));
    const known = new Set(live.map(({ appId }) => appId));
    for (const appId of this.#measured.keys()) if (!known.has(appId)) this.#measured.delete(appId);
    return live.filter(({ appId }) => now - (this.#measured.get(appId) ?? 0) > PERIOD_MS);
  }

  async measure({ slug, appId }: StoredApp): Promise<StoredBytes> {
    const live = await this.#options.scripts.settings(slug);
    const stored = { sql: 0, keyValue: 0, objects: 0, durable: 0 };
    if (live === null || readTags(live.tags)?.appId !== appId) return stored;
    const named = (type: string, key: string) =>
      new Set(live.bindings.filter((each) => each.type === type).map((each) => String(each[key])));
    for (const uuid of named("d1", "id")) stored.sql += await this.#databaseBytes(uuid);
    for (const bucket of named("r2_bucket", "bucket_name")) stored.objects += await this.#bucketBytes(bucket);
    this.#measured.set(appId, Date.now());
    return stored;
  }

  async #databaseBytes(uuid: string): Promise<number> {
    const request = { operation: "read the size of a database", method: "GET", path: `d1/database/${uuid}` } as const;
    const found = await this.#options.client.call(request, database).catch(ignoreMissing);
    return found?.file_size ?? 0;
  }

  async #bucketBytes(bucket: string): Promise<number> {
    const request = {
      operation: "read the size of a bucket",
      method: "GET",
      path: `r2/buckets/${bucket}/usage`,
    } as const;
    const found = await this.#options.client.call(request, usage).catch(ignoreMissing);
    return found === null ? 0 : found.payloadSize + found.metadataSize;
  }

  async restrict({ slug, appId }: StoredApp, restriction: StorageRestriction | null): Promise<void> {
    const entry = await this.#options.entries.readSlug(slug);
    if (entry?.appId !== appId) return;
    await this.#options.entries.writeSlug(slug, { appId, ...(restriction === null ? {} : { restriction }) });
  }
}

function ignoreMissing(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}
