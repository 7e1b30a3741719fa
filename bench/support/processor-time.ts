import { readFile } from "node:fs/promises";
import { listChildren } from "./process-memory.ts";

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
export async function treeCpuMs(pid: number): Promise<number> {
  // A process can end while it is read. Its time is then that of its parent.
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
  if (stat === null) return 0;
  // proc_pid_stat(5): the fields 14 to 17, in ticks of 10 ms. The name before them may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  let ms = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * 10;
  for (const child of await listChildren(pid).catch(() => [])) ms += await treeCpuMs(child);
  return ms;
}
