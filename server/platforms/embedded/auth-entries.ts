import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import path from "node:path";
import type { AuthEntries, AuthEntry } from "../../../domain/ports/auth-entries.ts";
import { replaceFile } from "../../files/durable-files.ts";

interface Cached {
  entry: AuthEntry;
  /** Identifies the file's content: a replaced file is another inode. */
  seen: string;
}

const CACHED_ENTRIES = 1000;

/** Auth entries as files, one per app. Also another process's change counts from the next read on. */
export class FilesystemAuthEntries implements AuthEntries {
  readonly #root: string;
  readonly #cache = new Map<string, Cached>();

  /** @param root - a folder of its own; made when absent */
  constructor(root: string) {
    this.#root = root;
  }

  async put({ appId, ...content }: AuthEntry): Promise<void> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 });
    await replaceFile(this.#file(appId), JSON.stringify(content), 0o600);
  }

  async get(appId: string): Promise<AuthEntry | null> {
    const file = this.#file(appId);
    const seen = await identity(file);
    if (seen === null) return null;
    const cached = this.#cache.get(appId);
    if (cached?.seen === seen) return cached.entry;
    const content = await readFile(file, "utf8").catch(absent);
    if (content === null) return null;
    return this.#remember({ appId, ...(JSON.parse(content) as Omit<AuthEntry, "appId">) }, seen);
  }

  async remove(appId: string): Promise<void> {
    await rm(this.#file(appId), { force: true });
  }

  async list(): Promise<string[]> {
    const names = (await readdir(this.#root).catch(absent)) ?? [];
    return names.filter((name) => name.endsWith(".json")).map((name) => path.basename(name, ".json"));
  }

  /** The identity was read before the content, so a change in between is at worst read once more. */
  #remember(entry: AuthEntry, seen: string): AuthEntry {
    const oldest = this.#cache.keys().next();
    if (this.#cache.size >= CACHED_ENTRIES && !oldest.done) this.#cache.delete(oldest.value);
    this.#cache.set(entry.appId, { entry, seen });
    return entry;
  }

  #file(appId: string): string {
    if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(appId)) throw new TypeError(`Not an app id: ${JSON.stringify(appId)}`);
    return path.join(this.#root, `${appId}.json`);
  }
}

async function identity(file: string): Promise<string | null> {
  const stats = await stat(file, { bigint: true }).catch(absent);
  return stats && `${stats.ino}/${stats.mtimeNs}/${stats.ctimeNs}`;
}

function absent(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
  throw error;
}
