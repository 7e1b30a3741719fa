import { lstat, opendir } from "node:fs/promises";
import path from "node:path";
import type { AppStorage, StoredApp, StoredBytes, StorageRestriction } from "../../../../domain/ports/app-storage.ts";
import { nullIfMissing } from "../../../files/missing-file.ts";
import type { AppPostgres } from "../postgres/app-postgres.ts";
import type { ScriptStore } from "../scripts/script-store.ts";
import type { Supervisor } from "../supervisor/supervisor.ts";
import { sqliteBytes } from "./sqlite-bytes.ts";

interface EmbeddedAppStorageOptions {
  store: ScriptStore;
  apps: Pick<Supervisor, "active" | "restrict">;
  /** Returns the folder of an app's SQL database. */
  databaseDirectory: (databaseId: string) => string;
  postgres: Pick<AppPostgres, "measure">;
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
      const data = await measureFolder(path.join(live.storageDirectory, "data"), stopAtBytes, wholeBytes);
      return {
        sql: data + (await this.#measureDatabase(live.databaseId, stopAtBytes)),
        keyValue: await folder("kv"),
        objects: await folder("r2"),
        durable: (await folder("do")) + (await folder("workflows")),
      };
    } catch (error) {
      this.#started?.add(slug);
      throw error;
    }
  }

  async #measureDatabase(databaseId: string, stopAtBytes: number): Promise<number> {
    const { databaseDirectory, postgres } = this.#options;
    const files = await measureFolder(databaseDirectory(databaseId), stopAtBytes);
    return files + (await postgres.measure(databaseId));
  }

  restrict({ slug, appId }: StoredApp, restriction: StorageRestriction | null): Promise<void> {
    return this.#options.apps.restrict(slug, appId, restriction);
  }
}

/** A file occupies whole blocks, so that a million empty files are not free. */
const BLOCK_BYTES = 4096;

/**
 * Returns how many bytes the files below a folder occupy. In SQLite databases only the pages in use count, because a
 * database does not shrink when rows are deleted. Follows no links. One entry is read after the other, so that a large
 * folder does not delay others. Files may change meanwhile.
 *
 * @param stopAtBytes - ends the count as soon as it is larger
 * @param sizeOf - for a folder that an app writes to itself, `wholeBytes`: a database there could name any number of pages
 */
export async function measureFolder(folder: string, stopAtBytes: number, sizeOf = fileBytes): Promise<number> {
  let bytes = 0;
  const pending = [folder];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const entries = await opendir(next, { bufferSize: 256 }).catch(nullIfMissing);
    if (entries === null) continue;
    for await (const entry of entries) {
      const file = path.join(next, entry.name);
      if (entry.isDirectory()) pending.push(file);
      else if (entry.isFile()) bytes += await sizeOf(file);
      if (bytes > stopAtBytes) return bytes;
    }
  }
  return bytes;
}

async function fileBytes(file: string): Promise<number> {
  if (file.endsWith(".sqlite")) return sqliteBytes(file);
  // They are counted with their database.
  if (/[.]sqlite-(wal|shm)$/.test(file)) return 0;
  return wholeBytes(file);
}

/** What a file occupies, whatever it contains. */
export async function wholeBytes(file: string): Promise<number> {
  const stats = await lstat(file).catch(nullIfMissing);
  return stats === null ? 0 : Math.ceil(stats.size / BLOCK_BYTES) * BLOCK_BYTES || BLOCK_BYTES;
}
