import { execFile } from "node:child_process";
import { statfs } from "node:fs/promises";

/** Files are charged at least this much, in bytes, so that a flood of empty ones is bounded too. */
const BYTES_PER_FILE = 1024;

/** How many polls may rely on the file system's free space before the folders are walked again. */
const POLLS_BETWEEN_WALKS = 10;

/**
 * Watches what some folders hold together. Walking them is expensive, so between walks the fall of the file system's
 * free space stands for their growth: it can be more than that (others write too, which only means an early walk),
 * and less only while others delete, which the next regular walk puts right.
 */
export class DiskUsage {
  readonly #folders: readonly string[];
  readonly #limitBytes: number;
  #walkedBytes = 0;
  #freeBytes = 0;
  #pollsLeft = 0;

  constructor(folders: readonly string[], limitMb: number) {
    this.#folders = folders;
    this.#limitBytes = limitMb * 1024 * 1024;
  }

  /**
   * Cheap; for use while the command runs.
   *
   * @param namelessBytes - what deleted files hold that are still open
   */
  async seemsExceeded(namelessBytes: number): Promise<boolean> {
    const growth = Math.max(0, this.#freeBytes - (await freeBytes(this.#folders)));
    const needsWalk = this.#pollsLeft-- <= 0 || this.#walkedBytes + growth > this.#limitBytes;
    return needsWalk && (await this.isExceeded(namelessBytes));
  }

  /** Exact; walks the folders. */
  async isExceeded(namelessBytes = 0): Promise<boolean> {
    this.#pollsLeft = POLLS_BETWEEN_WALKS;
    this.#freeBytes = await freeBytes(this.#folders);
    const [bytes, files] = await Promise.all([
      total("--block-size=1", this.#folders),
      total("--inodes", this.#folders),
    ]);
    this.#walkedBytes = Math.max(bytes, files * BYTES_PER_FILE);
    return this.#walkedBytes + namelessBytes > this.#limitBytes;
  }
}

async function freeBytes(folders: readonly string[]): Promise<number> {
  const systems = await Promise.all(folders.map((folder) => statfs(folder)));
  return systems.reduce((sum, system) => sum + system.bavail * system.bsize, 0);
}

/** `du` leaves our event loop alone, follows no link, counts a hard link once, and outlives files that vanish. */
function total(unit: "--block-size=1" | "--inodes", folders: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    execFile("du", ["--summarize", "--total", unit, "--", ...folders], (error, stdout) => {
      const sum = /(\d+)\ttotal\n$/.exec(stdout)?.[1];
      if (sum === undefined) reject(new Error("The folders of the sandbox could not be measured", { cause: error }));
      else resolve(Number(sum));
    });
  });
}
