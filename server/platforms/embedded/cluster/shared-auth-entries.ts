import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { AuthEntries, AuthEntry } from "../../../../domain/ports/auth-entries.ts";
import { parseJson } from "../../../../domain/shared/json.ts";
import type { PlatformLog } from "../supervisor/supervisor-options.ts";
import { AUTH_ENTRIES_PREFIX } from "./bucket-layout.ts";
import type { SharedBucket } from "./shared-bucket.ts";

interface CachedEntry {
  entry: AuthEntry | null;
  /** On the clock of `performance.now()`. */
  readAt: number;
}

const entrySchema = z.object({
  appId: z.string(),
  tokenSha256: z.string(),
  previous: z.object({ tokenSha256: z.string(), until: z.string() }).exactOptional(),
});

const MAX_CACHED_ENTRIES = 10_000;
const MAX_AGE_MS = 1_000;

interface SharedAuthEntriesOptions {
  bucket: SharedBucket;
  log: PlatformLog;
  /** How long an edge may use an entry without asking the bucket, in milliseconds. */
  maxAgeMs?: number;
}

/**
 * Auth entries in the bucket. A change is effective at once on the edge that makes it, and on the others after `maxAgeMs`. While the
 * bucket cannot be reached, an edge uses the entries that it knows.
 */
export class SharedAuthEntries implements AuthEntries {
  readonly #options: SharedAuthEntriesOptions;
  readonly #cache = new LRUCache<string, CachedEntry>({ max: MAX_CACHED_ENTRIES });
  readonly #reads = new Map<string, Promise<AuthEntry | null>>();

  constructor(options: SharedAuthEntriesOptions) {
    this.#options = options;
  }

  async put(entry: AuthEntry): Promise<void> {
    await this.#options.bucket.write(keyOf(entry.appId), Buffer.from(JSON.stringify(entry)));
    this.#cache.set(entry.appId, { entry, readAt: performance.now() });
  }

  async get(appId: string): Promise<AuthEntry | null> {
    const cached = this.#cache.get(appId);
    const { maxAgeMs = MAX_AGE_MS } = this.#options;
    if (cached !== undefined && performance.now() - cached.readAt < maxAgeMs) return cached.entry;
    const reading = this.#reads.get(appId) ?? this.#read(appId, cached).finally(() => this.#reads.delete(appId));
    this.#reads.set(appId, reading);
    return reading;
  }

  async remove(appId: string): Promise<void> {
    await this.#options.bucket.remove(keyOf(appId));
    this.#cache.set(appId, { entry: null, readAt: performance.now() });
  }

  async list(): Promise<string[]> {
    const ids: string[] = [];
    for await (const { key } of this.#options.bucket.list(AUTH_ENTRIES_PREFIX))
      ids.push(key.slice(AUTH_ENTRIES_PREFIX.length, -SUFFIX.length));
    return ids;
  }

  async #read(appId: string, known: CachedEntry | undefined): Promise<AuthEntry | null> {
    try {
      const found = await this.#options.bucket.read(keyOf(appId));
      const entry = found === null ? null : entrySchema.parse(parseJson(found.bytes.toString("utf8")));
      this.#cache.set(appId, { entry, readAt: performance.now() });
      return entry;
    } catch (err) {
      if (known === undefined) throw err;
      this.#options.log.warn({ appId, err }, "the object store cannot be read; a known auth entry is used");
      this.#cache.set(appId, { ...known, readAt: performance.now() });
      return known.entry;
    }
  }
}

const SUFFIX = ".json";

/** @throws {TypeError} for an invalid id */
function keyOf(appId: string): string {
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(appId)) throw new TypeError(`Invalid app id: ${JSON.stringify(appId)}`);
  return `${AUTH_ENTRIES_PREFIX}${appId}${SUFFIX}`;
}
