import { z } from "zod";
import type { AuthEntries, AuthEntry } from "../../../domain/ports/auth-entries.ts";
import type { CloudflareClient } from "./cloudflare-client.ts";
import { AUTH_PREFIX, SLUG_PREFIX, type SlugEntry } from "./dispatch-worker/edge-entry.ts";
import { ensureNamespace, listKeys, readKey, removeKey, writeKey } from "./key-value-namespaces.ts";

const authEntrySchema = z.object({
  tokenSha256: z.string(),
  previous: z.object({ tokenSha256: z.string(), until: z.string() }).optional(),
});
const slugEntrySchema = z.object({
  appId: z.string(),
  restriction: z.object({ message: z.string(), servesOwner: z.boolean() }).optional(),
});

/** Ids become keys, which have a length limit. */
const APP_ID = /^[a-z0-9][a-z0-9-]{0,63}$/;

/**
 * What the dispatch worker reads about apps: the auth entries, and an entry of each slug. They are in one key-value
 * namespace. Cloudflare's locations keep what they have read for up to 60 seconds.
 */
export class EdgeEntries {
  readonly #client: CloudflareClient;
  readonly #title: string;
  #namespaceId: Promise<string> | null = null;

  /** @param title - of the namespace, which is created when it is first needed */
  constructor(client: CloudflareClient, title: string) {
    this.#client = client;
    this.#title = title;
  }

  async namespaceId(): Promise<string> {
    this.#namespaceId ??= ensureNamespace(this.#client, this.#title);
    try {
      return await this.#namespaceId;
    } catch (error) {
      this.#namespaceId = null;
      throw error;
    }
  }

  async readSlug(slug: string): Promise<SlugEntry | null> {
    return parse(await readKey(this.#client, await this.namespaceId(), SLUG_PREFIX + slug), slugEntrySchema);
  }

  async writeSlug(slug: string, entry: SlugEntry): Promise<void> {
    await writeKey(this.#client, await this.namespaceId(), SLUG_PREFIX + slug, entry);
  }

  async removeSlug(slug: string): Promise<void> {
    await removeKey(this.#client, await this.namespaceId(), SLUG_PREFIX + slug);
  }

  async listSlugs(): Promise<string[]> {
    const keys = await listKeys(this.#client, await this.namespaceId(), SLUG_PREFIX);
    return keys.map((key) => key.slice(SLUG_PREFIX.length));
  }

  /** The auth entries of apps. */
  get auth(): AuthEntries {
    return {
      put: async ({ appId, ...content }: AuthEntry) =>
        writeKey(this.#client, await this.namespaceId(), authKey(appId), content),
      get: async (appId) => {
        const entry = parse(await readKey(this.#client, await this.namespaceId(), authKey(appId)), authEntrySchema);
        if (entry === null) return null;
        const { tokenSha256, previous } = entry;
        return { appId, tokenSha256, ...(previous === undefined ? {} : { previous }) };
      },
      remove: async (appId) => removeKey(this.#client, await this.namespaceId(), authKey(appId)),
      list: async () => {
        const keys = await listKeys(this.#client, await this.namespaceId(), AUTH_PREFIX);
        return keys.map((key) => key.slice(AUTH_PREFIX.length));
      },
    };
  }
}

function authKey(appId: string): string {
  if (!APP_ID.test(appId)) throw new TypeError(`Invalid app id: ${JSON.stringify(appId)}`);
  return AUTH_PREFIX + appId;
}

function parse<T>(bytes: Uint8Array | null, schema: z.ZodType<T>): T | null {
  return bytes === null ? null : schema.parse(JSON.parse(Buffer.from(bytes).toString()));
}
