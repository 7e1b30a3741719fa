import { readFileSync } from "node:fs";
import path from "node:path";
import type { Dialect, GroupLimits } from "./group-settings.ts";
import { ifExists } from "./if-exists.ts";

const MEBIBYTE = 1024 * 1024;

/** The memory of one group, in the folder of its memory controller. */
export class GroupMemory {
  readonly #dialect: Dialect;
  readonly #folder: string;
  readonly #limits: GroupLimits;

  constructor(dialect: Dialect, folder: string, limits: GroupLimits) {
    this.#dialect = dialect;
    this.#folder = folder;
    this.#limits = limits;
  }

  /** Whether the group has reached its limit. False after the group was removed. */
  hasExceeded(): boolean {
    // The kernel counts processes that it has killed at the limit.
    if (/^oom_kill [1-9]/m.test(this.#read(this.#dialect.memoryEvents))) return true;
    const { memoryMb, filesMb = 0 } = this.#limits;
    if (filesMb === 0) return false;
    // The limit of the kernel is for processes and files together.
    const bytes = Number(this.#dialect.privateMemory.exec(this.#read("memory.stat"))?.[1] ?? 0);
    return bytes > memoryMb * MEBIBYTE;
  }

  #read(file: string): string {
    return ifExists("", () => readFileSync(path.join(this.#folder, file), "utf8"));
  }
}
