import { readdirSync, readFileSync } from "node:fs";

/**
 * The resident memory, in MiB, of a process and all its descendants. Pages that processes share count once for each of
 * them. A process that ends meanwhile counts as 0.
 */
export function residentMb(rootPid: number): number {
  let kilobytes = 0;
  for (const pid of processTree(rootPid)) kilobytes += residentKilobytes(pid);
  return kilobytes / 1024;
}

/** In milliseconds, of `/proc/<pid>/stat`. It is the same for every kernel that Node runs on. */
const CLOCK_TICK_MS = 10;

/** The CPU time, in milliseconds, that processes and their ended children have used. */
export function cpuMs(pids: readonly number[]): number {
  return pids.map((pid) => clockTicks(pid)).reduce((sum, ticks) => sum + ticks, 0) * CLOCK_TICK_MS;
}

/**
 * A process and all its descendants; parents come before their children. The reads are synchronous: they touch no disk,
 * and a thread pool would make them ten times as expensive.
 */
export function processTree(rootPid: number): number[] {
  const pids = [rootPid];
  // The list grows during the loop. A daemon stays in it, because the init of its pid namespace adopts it.
  for (const pid of pids) pids.push(...childrenOf(pid));
  return pids;
}

/** The running children of a process, in the order of their start. */
export function childrenOf(pid: number): number[] {
  const threads = readOr([], () => readdirSync(`/proc/${pid}/task`));
  const lists = threads.map((thread) => readOr("", () => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8")));
  return lists.flatMap((list) => list.split(" ").filter(Boolean).map(Number));
}

/** The first child of a process, or of that child and so on, `depth` levels below; `null` if there is none. */
export function firstDescendant(pid: number, depth: number): number | null {
  const [child] = childrenOf(pid);
  if (child === undefined) return null;
  return depth === 1 ? child : firstDescendant(child, depth - 1);
}

/** Whether a process exists and is not a zombie. A zombie has closed all its files and only waits to be reaped. */
export function isRunning(pid: number): boolean {
  const status = readOr("", () => readFileSync(`/proc/${pid}/status`, "utf8"));
  return status !== "" && !/^State:\s+[ZX]/m.test(status);
}

/** The fields of `/proc/<pid>/stat`, each at its number in proc_pid_stat(5), from 3 on; `null` if there is no such process. */
export function readStat(pid: number): string[] | null {
  const stat = readOr(null, () => readFileSync(`/proc/${pid}/stat`, "latin1"));
  // The name of the program, field 2, is in parentheses and may contain anything.
  return stat === null ? null : ["", "", "", ...stat.slice(stat.lastIndexOf(")") + 2).split(" ")];
}

function residentKilobytes(pid: number): number {
  const status = readOr("", () => readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
}

function clockTicks(pid: number): number {
  // utime, stime, cutime and cstime.
  return (readStat(pid)?.slice(14, 18) ?? []).reduce((sum, ticks) => sum + Number(ticks), 0);
}

function readOr<T>(otherwise: T, read: () => T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
