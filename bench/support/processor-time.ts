import { readFile } from "node:fs/promises";
import { cpuMs, processTree } from "../../server/sandbox/process-tree.ts";

/** The CPU time, in milliseconds, that all programs and the kernel of the machine have used since its start. */
export async function machineCpuMs(): Promise<number> {
  const [all = ""] = (await readFile("/proc/stat", "utf8")).split("\n");
  // proc_stat(5): user, nice, system, idle, iowait, irq, softirq in ticks of 10 ms.
  const [, user, nice, system, , , irq, softirq] = all.split(/\s+/).map(Number);
  return [user, nice, system, irq, softirq].reduce((sum: number, ticks) => sum + (ticks ?? 0), 0) * 10;
}

/** The CPU time, in milliseconds, that this process has used since its start. */
export function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The CPU time, in milliseconds, of a process and of all its descendants, those that have ended included. */
export function treeCpuMs(pid: number): number {
  return cpuMs(processTree(pid));
}
