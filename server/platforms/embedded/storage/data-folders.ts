import { mkdir, rm, rename } from "node:fs/promises";
import path from "node:path";
import type { AppDataLocation } from "../../../../domain/ports/app-data.ts";
import type { ScriptVersion } from "../script-version.ts";

/** The data of an app as folders on this machine, laid out as Miniflare does it. Disposing of them removes copies. */
export interface DataFolders extends AsyncDisposable {
  /** Its key-value, object and durable storage; `null` if it has none. */
  storage: string | null;
  /** Its SQL database; `null` if it has none. */
  database: string | null;
  /** `/data` of a Node server, if it is not in `storage`; otherwise `null`. */
  serverData: string | null;
  /** What is left out, or may be inconsistent, as sentences for the app's owner. */
  warnings: readonly string[];
}

/** The data that replaces that of an app: `database`, and `storage` with `data` of a Node server in it. */
export interface ReplacingFolders {
  storage: string;
  database: string;
}

/** Where exports read the data of apps, and imports write it. */
export interface AppDataFolders {
  /** @param workFolder - an empty folder for copies, on the disk of the apps */
  open(version: ScriptVersion, workFolder: string, signal: AbortSignal): Promise<DataFolders>;
  /**
   * Replaces the data of an app that does not run. Safe to repeat.
   *
   * @param folders - they may be moved
   * @returns what is left out, as sentences for the app's owner
   */
  replace(app: AppDataLocation, folders: ReplacingFolders, signal: AbortSignal): Promise<string[]>;
}

/** The data of the apps of a single edge. */
export class LocalDataFolders implements AppDataFolders {
  readonly #root: string;

  /** @param root - the folder of the platform */
  constructor(root: string) {
    this.#root = root;
  }

  async open({ storageDirectory, databaseId }: ScriptVersion): Promise<DataFolders> {
    const database = path.join(this.#root, "databases", databaseId);
    return {
      ...{ storage: storageDirectory, database, serverData: null, warnings: [] },
      [Symbol.asyncDispose]: async () => undefined,
    };
  }

  async replace({ slug, appId, databaseId }: AppDataLocation, folders: ReplacingFolders, signal: AbortSignal) {
    const storage = path.join(this.#root, "scripts", slug, appId, "storage");
    const database = path.join(this.#root, "databases", databaseId);
    // On the same disk, so each folder appears in one step.
    for (const [from, to] of [
      [folders.storage, storage],
      [folders.database, database],
    ] as const) {
      signal.throwIfAborted();
      await rm(to, { recursive: true, force: true });
      await mkdir(path.dirname(to), { recursive: true, mode: 0o755 });
      await rename(from, to);
    }
    return [];
  }
}
