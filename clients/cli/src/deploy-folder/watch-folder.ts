import path from "node:path";
import { type FSWatcher, watch } from "chokidar";
import { isAlwaysLeftOut } from "../../../../domain/archives/source-folder.ts";

/** How long a folder must be quiet until its changes are deployed, in milliseconds. */
const QUIET_MS = 400;

/** Notices the changes of a folder. Those that come while nobody waits are not lost. */
export class FolderChanges {
  readonly #watcher: FSWatcher;
  readonly #signal: AbortSignal;
  #changedAt: number | null = null;
  #notify: () => void = () => undefined;

  private constructor(watcher: FSWatcher, signal: AbortSignal) {
    this.#watcher = watcher;
    this.#signal = signal;
    watcher.on("all", () => {
      this.#changedAt = Date.now();
      this.#notify();
    });
    // A folder that cannot be read is not watched; the next deployment says so.
    watcher.on("error", () => undefined);
    signal.addEventListener("abort", () => this.#notify());
  }

  /** Watches a folder, without what is never deployed. */
  static async watch(folder: string, signal: AbortSignal): Promise<FolderChanges> {
    const ignored = (file: string): boolean => path.relative(folder, file).split(path.sep).some(isAlwaysLeftOut);
    const watcher = watch(folder, { ignored, ignoreInitial: true, followSymlinks: false });
    const changes = new FolderChanges(watcher, signal);
    await new Promise<void>((resolve) => watcher.once("ready", () => resolve()));
    return changes;
  }

  /** Waits until something has changed since the last call, and then until nothing more changes for a moment. */
  async next(): Promise<void> {
    for (let wait = this.#remainingMs(); wait > 0; wait = this.#remainingMs()) {
      this.#signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        this.#notify = resolve;
        if (wait !== Infinity) setTimeout(resolve, wait);
      });
    }
    this.#signal.throwIfAborted();
    this.#changedAt = null;
  }

  close(): Promise<void> {
    return this.#watcher.close();
  }

  #remainingMs(): number {
    return this.#changedAt === null ? Infinity : this.#changedAt + QUIET_MS - Date.now();
  }
}
