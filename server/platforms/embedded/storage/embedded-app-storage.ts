import { lstat, opendir } from "node:fs/promises";
import path from "node:path";
import type { AppStorage, StoredApp, StoredBytes, StorageRestriction } from "../../../../domain/ports/app-storage.ts";
import { nullIfMissing } from "../../../files/missing-file.ts";
import type { AppPostgres } from "../postgres/app-postgres.ts";
import type { ScriptVersion } from "../script-version.ts";
import type { Scripts } from "../scripts/script-store.ts";
import type { Supervisor } from "../supervisor/supervisor.ts";
import { sqliteBytes } from "./sqlite-bytes.ts";

/** Measures what the app of a version stores. See `AppStorage.measure`. */
export type MeasureApp = (version: ScriptVersion, stopAtBytes: number) => Promise<StoredBytes>;

interface EmbeddedAppStorageOptions {
  store: Scripts;
  apps: Pick<Supervisor, "active" | "restrict">;
  measure: MeasureApp;
}

/** Measures what the apps of this edge store, after they have run. */
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
      return await this.#options.measure(live, stopAtBytes);
    } catch (error) {
      this.#started?.add(slug);
      throw error;
    }
  }

  restrict({ slug, appId }: StoredApp, restriction: StorageRestriction | null): Promise<void> {
    return this.#options.apps.restrict(slug, appId, restriction);
  }
}

interface FolderDeps {
  /** Returns the folder of an app's SQL database. */
  databaseDirectory: (databaseId: string) => string;
  postgres: Pick<AppPostgres, "measure">;
}

/** Measures the folders of apps on this machine. */
export function folderMeasure({ databaseDirectory, postgres }: FolderDeps): MeasureApp {
  return async ({ storageDirectory, databaseId }, stopAtBytes) => {
    const folder = (kind: string) => measureFolder(path.join(storageDirectory, kind), stopAtBytes);
    const files = await measureFolder(databaseDirectory(databaseId), stopAtBytes);
    return {
      sql: files + (await measureServerData({ storageDirectory, databaseId }, postgres, stopAtBytes)),
      keyValue: await folder("kv"),
      objects: await folder("r2"),
      durable: (await folder("do")) + (await folder("workflows")),
    };
  };
}

/** The bytes of the data folder of a Node server, and of its database in PostgreSQL. */
export async function measureServerData(
  { storageDirectory, databaseId }: Pick<ScriptVersion, "storageDirectory" | "databaseId">,
  postgres: Pick<AppPostgres, "measure">,
  stopAtBytes: number,
): Promise<number> {
  const data = await measureFolder(path.join(storageDirectory, "data"), stopAtBytes, wholeBytes);
  return data + (await postgres.measure(databaseId));
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
