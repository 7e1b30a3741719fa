import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { SandboxKind } from "../uid-pool.ts";

const MEBIBYTE = 1024 * 1024;

/** The processes that make a sandbox and wait for it. They are in its group, but not in its limit. */
const SANDBOX_PROCESSES = 16;

/** The share of processor time of all sandboxes of a kind, relative to the service, when there is not enough for all. */
const CPU_SHARES: Readonly<Record<SandboxKind, number>> = { apps: 0.5, builds: 0.1, programs: 0.1 };

export interface GroupLimits {
  /** Memory of every kind: private, shared, temporary files, caches, and what the kernel needs for the processes. */
  memoryMb: number;
  /** Memory for the files of writable mounts that are in memory, in addition; 0 by default. */
  filesMb?: number;
  processes: number;
}

/** The folders of one group, by controller. A controller that is not available is `null`. */
export interface GroupFolders {
  memory: string | null;
  pids: string | null;
  cpu: string | null;
}

/** The names and units of one version of control groups. */
export interface Dialect {
  version: "v1" | "v2";
  /** The file that counts the processes which were killed at the limit on memory. */
  memoryEvents: string;
  /** Matches the private memory, in bytes, in `memory.stat`. */
  privateMemory: RegExp;
  setCpuShare(folder: string, share: number): void;
  setMemoryLimit(folder: string, bytes: number): void;
}

export const V1: Dialect = {
  version: "v1",
  memoryEvents: "memory.oom_control",
  privateMemory: /^total_rss (\d+)$/m,
  setCpuShare: (folder, share) => write(folder, "cpu.shares", Math.round(1024 * share)),
  setMemoryLimit(folder, bytes) {
    write(folder, "memory.limit_in_bytes", bytes);
    // Absent on kernels that do not count swap.
    writeIfPresent(folder, "memory.memsw.limit_in_bytes", bytes);
  },
};

export const V2: Dialect = {
  version: "v2",
  memoryEvents: "memory.events",
  privateMemory: /^anon (\d+)$/m,
  setCpuShare: (folder, share) => write(folder, "cpu.weight", Math.round(100 * share)),
  setMemoryLimit(folder, bytes) {
    write(folder, "memory.max", bytes);
    writeIfPresent(folder, "memory.swap.max", 0);
    // All processes of a sandbox end together, as they do when the service finds too much memory.
    writeIfPresent(folder, "memory.oom.group", 1);
  },
};

/** Sets what all sandboxes of a kind share. */
export function configureKind(dialect: Dialect, { cpu }: GroupFolders, kind: SandboxKind): void {
  if (cpu !== null) dialect.setCpuShare(cpu, CPU_SHARES[kind]);
}

export function configureGroup(dialect: Dialect, { memory, pids }: GroupFolders, limits: GroupLimits): void {
  if (memory !== null) dialect.setMemoryLimit(memory, (limits.memoryMb + (limits.filesMb ?? 0)) * MEBIBYTE);
  if (pids !== null) write(pids, "pids.max", limits.processes + SANDBOX_PROCESSES);
}

function write(folder: string, file: string, value: number): void {
  // The kernel creates the files of a group, so a missing one is an error.
  writeFileSync(path.join(folder, file), String(value), { flag: "r+" });
}

function writeIfPresent(folder: string, file: string, value: number): void {
  if (existsSync(path.join(folder, file))) write(folder, file, value);
}
