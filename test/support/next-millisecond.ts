import { setTimeout as sleep } from "node:timers/promises";

/** Waits until the clock shows a later millisecond: objects that are created in the same one have no order by time. */
export async function nextMillisecond(): Promise<void> {
  const before = Date.now();
  while (Date.now() === before) await sleep(1);
}
