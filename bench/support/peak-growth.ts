import { setTimeout as sleep } from "node:timers/promises";
import { anonymousMb } from "./process-memory.ts";

const INTERVAL_MS = 20;

/**
 * Measures by how much the anonymous memory of a process grows during `work`, in MB. It is sampled 50 times per second.
 *
 * @param pid - of the process
 */
export async function measurePeakGrowth(pid: number, work: () => Promise<unknown>): Promise<number> {
  const before = await anonymousMb(pid);
  const done = new AbortController();
  const working = work().finally(() => done.abort());
  let peak = before;
  while (!done.signal.aborted) {
    peak = Math.max(peak, await anonymousMb(pid));
    await sleep(INTERVAL_MS);
  }
  await working;
  return peak - before;
}
