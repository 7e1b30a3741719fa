import { existsSync } from "node:fs";
import { isRunning, readStat } from "./process-tree.ts";

/** Matches an identity at the start of a text. */
const IDENTITY = /^(\d+)-(\d+)(?=-)/;

/**
 * Names what belongs to this process: `<pid>-<start time>`. Unlike a pid, it never names a later process. Systems
 * without `/proc` have no start time.
 */
export function ownIdentity(): string {
  return `${process.pid}-${startTime(process.pid) ?? 0}`;
}

/**
 * Whether a name that starts with the identity of a process, followed by `-`, belongs to one that has ended. False for
 * other names, and on systems without `/proc`.
 */
export function isAbandoned(name: string): boolean {
  const [, pid, time] = IDENTITY.exec(name) ?? [];
  if (pid === undefined || !existsSync("/proc/self/stat")) return false;
  return !isRunning(Number(pid)) || startTime(Number(pid)) !== time;
}

/** In clock ticks since the boot. */
function startTime(pid: number): string | undefined {
  return readStat(pid)?.[22];
}
