import { readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { killIfExists } from "../kill-process.ts";
import type { KernelSetting } from "../write-before-start.ts";
import type { GroupMemory } from "./group-memory.ts";
import { ifExists } from "./if-exists.ts";

const REMOVAL_TIMEOUT_MS = 5000;
const POLL_MS = 5;

/** A control group with its processes. In version 1 it has one folder for each controller. */
export class ControlGroup {
  readonly #folders: readonly string[];
  readonly #memory: GroupMemory | null;

  /**
   * @param folders - all folders of the group
   * @param memory - `null` without a memory controller
   */
  constructor(folders: readonly string[], memory: GroupMemory | null) {
    this.#folders = folders;
    this.#memory = memory;
  }

  /** What a process writes to join this group. "0" is the process that writes it. */
  get membership(): KernelSetting[] {
    return this.#folders.map((folder) => [path.join(folder, "cgroup.procs"), "0"]);
  }

  /** The ids of all processes of the group: one read, however many there are. */
  processes(): number[] {
    return this.#folders.slice(0, 1).flatMap(processesIn);
  }

  /** Whether the group has reached its limit on memory. False after `remove`, and without a memory controller. */
  hasExceededMemory(): boolean {
    return this.#memory?.hasExceeded() ?? false;
  }

  /** Kills all processes of the group and removes it. Succeeds if it does not exist. @throws after 5 s */
  async remove(): Promise<void> {
    await Promise.all(this.#folders.map(removeGroup));
  }
}

/** Kills all processes of a group and of the groups below it, and removes them. @throws after 5 s */
export async function removeGroup(folder: string): Promise<void> {
  const deadline = Date.now() + REMOVAL_TIMEOUT_MS;
  for (;;) {
    for (const name of foldersIn(folder)) await removeGroup(path.join(folder, name));
    try {
      return ifExists(undefined, () => rmdirSync(folder));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EBUSY" || Date.now() > deadline) throw error;
    }
    killProcesses(folder);
    await sleep(POLL_MS);
  }
}

export function foldersIn(folder: string): string[] {
  const entries = ifExists([], () => readdirSync(folder, { withFileTypes: true }));
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

export function processesIn(folder: string): number[] {
  const list = ifExists("", () => readFileSync(path.join(folder, "cgroup.procs"), "utf8"));
  return list.split("\n").filter(Boolean).map(Number);
}

function killProcesses(folder: string): void {
  // In version 2 the kernel kills all at once, including those that are being forked.
  ifExists(undefined, () => writeFileSync(path.join(folder, "cgroup.kill"), "1", { flag: "r+" }));
  for (const pid of processesIn(folder)) killIfExists(pid);
}
