import { readdirSync, readFileSync } from "node:fs";

/**
 * Resident memory, in MiB, of a process and all its descendants. Pages that processes share are counted for each.
 * A process that ends meanwhile counts as nothing.
 */
export function residentMb(rootPid: number): number {
  let kilobytes = 0;
  for (const pid of processTree(rootPid)) kilobytes += residentKilobytes(pid);
  return kilobytes / 1024;
}

/**
 * A process and all its descendants. The reads are synchronous: they touch no disk, and a thread pool would make them
 * ten times as expensive.
 */
export function processTree(rootPid: number): number[] {
  const pids = [rootPid];
  // The list grows while it is walked. A daemon stays in it: the init of its pid namespace adopts it.
  for (const pid of pids) pids.push(...childrenOf(pid));
  return pids;
}

/** The processes that `pid` started and that have not ended, the eldest first. */
export function childrenOf(pid: number): number[] {
  const threads = readOr([], () => readdirSync(`/proc/${pid}/task`));
  const lists = threads.map((thread) => readOr("", () => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8")));
  return lists.flatMap((list) => list.split(" ").filter(Boolean).map(Number));
}

function residentKilobytes(pid: number): number {
  const status = readOr("", () => readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
}

function readOr<T>(otherwise: T, read: () => T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
