import { KeyedLock } from "../../../domain/shared/keyed-lock.ts";
import type { UploadBinding } from "../shared/upload-form.ts";
import { type DeclaredStore, declaredStores } from "../shared/worker-bindings.ts";
import type { CloudflareClient } from "./cloudflare-client.ts";
import { ensureNamespace, listNamespaces, removeNamespace } from "./key-value-namespaces.ts";
import { ensureBucket, listBuckets, removeBucket } from "./object-buckets.ts";
import type { ResourceNames } from "./resource-names.ts";

/** The key-value namespaces and buckets of apps. Their names follow from the app, so each can always be found again. */
export class AppStores {
  readonly #client: CloudflareClient;
  readonly #names: ResourceNames;
  readonly #locks = new KeyedLock();

  constructor(client: CloudflareClient, names: ResourceNames) {
    this.#client = client;
    this.#names = names;
  }

  /** Creates the stores that a script declares. Returns their ids by the names of the bindings. Safe to repeat. */
  async ensure(appId: string, bindings: readonly UploadBinding[]): Promise<Map<string, string>> {
    return this.#locks.run([appId], async () => {
      const ids = new Map<string, string>();
      for (const store of declaredStores(bindings)) ids.set(store.name, await this.#ensureOne(appId, store));
      return ids;
    });
  }

  async #ensureOne(appId: string, { kind, storageName }: DeclaredStore): Promise<string> {
    const name = this.#names.store(appId, storageName);
    if (kind === "key_value") return ensureNamespace(this.#client, name);
    await ensureBucket(this.#client, name);
    return name;
  }

  /** Removes all stores of an app, also those that an interrupted publication has created. */
  async remove(appId: string): Promise<void> {
    const prefix = this.#names.storePrefix(appId);
    for (const { id } of await listNamespaces(this.#client, prefix)) await removeNamespace(this.#client, id);
    for (const bucket of await listBuckets(this.#client, prefix)) await removeBucket(this.#client, bucket);
  }
}
