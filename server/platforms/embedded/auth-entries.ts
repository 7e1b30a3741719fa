import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import path from "node:path";
import { LRUCache } from "lru-cache";
import type { AuthEntries, AuthEntry } from "../../../domain/ports/auth-entries.ts";
import { replaceFile } from "../../files/durable-files.ts";
import { nullIfMissing } from "../../files/missing-file.ts";

interface CachedEntry {
  entry: AuthEntry;
  /** Identifies the content of the file. A replaced file has another inode. */
  fileVersion: string;
}

const MAX_CACHED_ENTRIES = 1000;

/** Auth entries as files, one for each app. The next read sees a change by another process too. */
export class FilesystemAuthEntries implements AuthEntries {
  readonly #root: string;
  readonly #cache = new LRUCache<string, CachedEntry>({ max: MAX_CACHED_ENTRIES });

  /** @param root - a folder for these files only; created if it does not exist */
  constructor(root: string) {
    this.#root = root;
  }

  async put({ appId, ...content }: AuthEntry): Promise<void> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 });
    await replaceFile(this.#file(appId), JSON.stringify(content), 0o600);
  }

  async get(appId: string): Promise<AuthEntry | null> {
    const file = this.#file(appId);
    // Read before the content: if the file is replaced in between, the next call only reads it once more.
    const fileVersion = await versionOf(file);
    if (fileVersion === null) return null;
    const cached = this.#cache.get(appId);
    if (cached?.fileVersion === fileVersion) return cached.entry;
    const content = await readFile(file, "utf8").catch(nullIfMissing);
    if (content === null) return null;
    const entry: AuthEntry = { appId, ...(JSON.parse(content) as Omit<AuthEntry, "appId">) };
    this.#cache.set(appId, { entry, fileVersion });
    return entry;
  }

  async remove(appId: string): Promise<void> {
    await rm(this.#file(appId), { force: true });
  }

  async list(): Promise<string[]> {
    const names = (await readdir(this.#root).catch(nullIfMissing)) ?? [];
    return names.filter((name) => name.endsWith(".json")).map((name) => path.basename(name, ".json"));
  }

  #file(appId: string): string {
    if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(appId)) throw new TypeError(`Invalid app id: ${JSON.stringify(appId)}`);
    return path.join(this.#root, `${appId}.json`);
  }
}

async function versionOf(file: string): Promise<string | null> {
  const stats = await stat(file, { bigint: true }).catch(nullIfMissing);
  return stats && `${stats.ino}/${stats.mtimeNs}/${stats.ctimeNs}`;
}
