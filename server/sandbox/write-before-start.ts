import type { ShellLimits } from "./resource-limits.ts";

/** A file of the kernel, and what a process writes to it about itself. */
export type KernelSetting = readonly [file: string, value: string];

/**
 * Makes the process the first choice of the kernel when the host runs out of memory, because memory that a sandbox uses
 * in the page cache or in pipes counts for no process.
 */
export const PREFER_FOR_OOM_KILL: KernelSetting = ["/proc/self/oom_score_adj", "1000"];

const WRITE_SETTINGS = 'while [ "$1" != -- ]; do echo "$2" >"$1" || exit; shift 2; done; shift';

/**
 * The start of a command line that writes settings before it executes the command that follows. One shell writes all of
 * them: each further tool, such as `choom`, costs about 0.8 ms of CPU time, and a sandbox of a program 20 ms.
 */
export function writeBeforeStart(settings: readonly KernelSetting[], limits: ShellLimits | null = null): string[] {
  if (settings.length === 0 && limits === null) return [];
  const script = [WRITE_SETTINGS, ...(limits === null ? [] : [limits.script]), 'exec "$@"'].join("; ");
  return ["sh", "-c", script, "sh", ...settings.flat(), "--", ...(limits?.values ?? [])];
}
