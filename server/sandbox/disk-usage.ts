import { execFile } from "node:child_process";
import { lstat, statfs } from "node:fs/promises";

/** The minimum size, in bytes, that a file counts with. It bounds the number of empty files. */
const MIN_BYTES_PER_FILE = 1024;

/** How many cheap checks may follow each other before the folders are measured again. */
const CHECKS_BETWEEN_MEASUREMENTS = 10;

/**
 * Measures the size of folders. Walking the folders is expensive, so in between the loss of free space in the file
 * system serves as an estimate of their growth. It is too high while others write, which only causes an early
 * measurement. It is too low while others delete, which the next regular measurement corrects.
 */
export class DiskUsage {
  readonly #folders: readonly string[];
  readonly #limitBytes: number;
  #measuredBytes = 0;
  #freeBytes = 0;
  #checksLeft = 0;

  constructor(folders: readonly string[], limitMb: number) {
    this.#folders = folders;
    this.#limitBytes = limitMb * 1024 * 1024;
  }

  /**
   * A cheap check for use while the command runs. It measures the folders only if the estimate exceeds the limit, or
   * after several checks.
   *
   * @param deletedBytes - the size of deleted files that are still open
   */
  async mayBeExceeded(deletedBytes: number): Promise<boolean> {
    const growth = Math.max(0, this.#freeBytes - (await freeBytes(this.#folders)));
    const mustMeasure = this.#checksLeft-- <= 0 || this.#measuredBytes + growth > this.#limitBytes;
    return mustMeasure && (await this.isExceeded(deletedBytes));
  }

  /** Measures the folders exactly, unless even all files of their file systems are within the limit. */
  async isExceeded(deletedBytes = 0): Promise<boolean> {
    this.#checksLeft = CHECKS_BETWEEN_MEASUREMENTS;
    this.#freeBytes = await freeBytes(this.#folders);
    this.#measuredBytes = sizeOf(await usageOfFileSystems(this.#folders));
    if (this.#measuredBytes + deletedBytes <= this.#limitBytes) return false;
    const [bytes, files] = await Promise.all([
      total("--block-size=1", this.#folders),
      total("--inodes", this.#folders),
    ]);
    this.#measuredBytes = sizeOf({ bytes, files });
    return this.#measuredBytes + deletedBytes > this.#limitBytes;
  }
}

interface Usage {
  bytes: number;
  files: number;
}

function sizeOf({ bytes, files }: Usage): number {
  return Math.max(bytes, files * MIN_BYTES_PER_FILE);
}

/** What all files of the file systems that contain the folders use. A workspace in memory has a file system of its own. */
async function usageOfFileSystems(folders: readonly string[]): Promise<Usage> {
  const folderOfDevice = new Map<number, string>();
  for (const folder of folders) folderOfDevice.set((await lstat(folder)).dev, folder);
  const systems = await Promise.all(folderOfDevice.values().map((folder) => statfs(folder)));
  return {
    bytes: systems.reduce((sum, { blocks, bfree, bsize }) => sum + (blocks - bfree) * bsize, 0),
    files: systems.reduce((sum, { files, ffree }) => sum + files - ffree, 0),
  };
}

async function freeBytes(folders: readonly string[]): Promise<number> {
  const systems = await Promise.all(folders.map((folder) => statfs(folder)));
  return systems.reduce((sum, system) => sum + system.bavail * system.bsize, 0);
}

/** `du` does not block our event loop, follows no link, counts a hard link once, and tolerates files that vanish. */
function total(unit: "--block-size=1" | "--inodes", folders: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    execFile("du", ["--summarize", "--total", unit, "--", ...folders], (error, stdout) => {
      const sum = /(?<!\d)(\d+)\ttotal\n$/.exec(stdout)?.[1];
      if (sum === undefined)
        reject(new Error("The size of the sandbox's folders cannot be measured", { cause: error }));
      else resolve(Number(sum));
    });
  });
}
