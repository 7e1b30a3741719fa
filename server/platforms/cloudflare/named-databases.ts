import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { CloudflareClient } from "./cloudflare-client.ts";
import { isMissing } from "./cloudflare-error.ts";
import { ensureCreated } from "./ensure-created.ts";

const PATH = "d1/database";
const databases = z.array(z.object({ uuid: z.string(), name: z.string() }));
const anything = z.unknown();

/** D1 databases of the account by their names. Cloudflare chooses their ids, and its names are unique. */
export class NamedDatabases {
  readonly #client: CloudflareClient;
  /** Cloudflare's ids of databases. They never change while a database exists. */
  readonly #uuids = new LRUCache<string, string>({ max: 10_000 });

  constructor(client: CloudflareClient) {
    this.#client = client;
  }

  /** Returns Cloudflare's id of a database, which is created if it does not exist. */
  async ensure(name: string): Promise<string> {
    return ensureCreated(
      // Not from memory: another process may have removed the database.
      () => this.#lookUp(name),
      async () => {
        const request = { operation: "create a database", method: "POST", path: PATH, body: { name } } as const;
        const { uuid } = await this.#client.call({ ...request, isRepeatable: false }, z.object({ uuid: z.string() }));
        this.#uuids.set(name, uuid);
        return uuid;
      },
    );
  }

  /** Returns Cloudflare's id of a database; `null` if it does not exist. */
  async find(name: string): Promise<string | null> {
    return this.#uuids.get(name) ?? this.#lookUp(name);
  }

  async #lookUp(name: string): Promise<string | null> {
    // The parameter finds parts of names too.
    const request = { operation: "find a database", method: "GET", path: PATH, query: { name } } as const;
    const found = (await this.#client.listPages(request, databases)).find((each) => each.name === name);
    if (found === undefined) this.#uuids.delete(name);
    else this.#uuids.set(name, found.uuid);
    return found?.uuid ?? null;
  }

  /** Succeeds if there is no such database. */
  async remove(name: string): Promise<void> {
    const uuid = await this.#lookUp(name);
    if (uuid === null) return;
    const request = { operation: "remove a database", method: "DELETE", path: `${PATH}/${uuid}` } as const;
    await this.#client.call(request, anything).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
    });
    this.#uuids.delete(name);
  }

  /** Lists the names that start with `prefix`. */
  async list(prefix: string): Promise<string[]> {
    const request = { operation: "list databases", method: "GET", path: PATH, query: { name: prefix } } as const;
    const found = await this.#client.listPages(request, databases);
    return found.map(({ name }) => name).filter((name) => name.startsWith(prefix));
  }
}
