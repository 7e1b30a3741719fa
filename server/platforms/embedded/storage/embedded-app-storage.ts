import path from "node:path";
import type { AppStorage, StoredApp, StoredBytes, StorageRestriction } from "../../../../domain/ports/app-storage.ts";
import type { ScriptStore } from "../scripts/script-store.ts";
import type { Supervisor } from "../supervisor/supervisor.ts";
import { measureFolder } from "./measure-folder.ts";

interface EmbeddedAppStorageOptions {
  store: ScriptStore;
  apps: Pick<Supervisor, "active" | "restrict">;
  /** Returns the folder of an app's SQL database. */
  databaseDirectory: (databaseId: string) => string;
}

/** Measures the folders of apps on this machine. */
export class EmbeddedAppStorage implements AppStorage {
  readonly #options: EmbeddedAppStorageOptions;
  /** The slugs of the apps that started since they were measured; `null` before the first listing. */
  #started: Set<string> | null = null;

  constructor(options: EmbeddedAppStorageOptions) {
    this.#options = options;
  }

  /** Call it at each start of an app. */
  noteStart(slug: string): void {
    this.#started?.add(slug);
  }

  async listChanged(): Promise<StoredApp[]> {
    if (this.#started === null) {
      this.#started = new Set();
      for (const { slug } of await this.#options.store.list()) this.#started.add(slug);
    }
    const apps: StoredApp[] = [];
    for (const slug of this.#started) {
      const live = await this.#options.store.live(slug);
      if (live === null) this.#started.delete(slug);
      else apps.push({ slug, appId: live.appId });
    }
    return apps;
  }

  async measure({ slug, appId }: StoredApp, stopAtBytes: number): Promise<StoredBytes> {
    const live = await this.#options.store.live(slug);
    if (live?.appId !== appId) return { sql: 0, keyValue: 0, objects: 0, durable: 0 };
    // Removed first: a start during the measurement adds it again.
    if (!this.#options.apps.active.includes(slug)) this.#started?.delete(slug);
    try {
      const folder = (kind: string) => measureFolder(path.join(live.storageDirectory, kind), stopAtBytes);
      return {
        sql: await measureFolder(this.#options.databaseDirectory(live.databaseId), stopAtBytes),
        keyValue: await folder("kv"),
        objects: await folder("r2"),
        durable: (await folder("do")) + (await folder("workflows")),
      };
    } catch (error) {
      this.#started?.add(slug);
      throw error;
    }
  }

  restrict({ slug, appId }: StoredApp, restriction: StorageRestriction | null): Promise<void> {
    return this.#options.apps.restrict(slug, appId, restriction);
  }
}
