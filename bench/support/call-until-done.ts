import { setTimeout as sleep } from "node:timers/promises";
import { measureTime } from "./measure-alternately.ts";

/**
 * Makes calls, one after the other, until `work` is done.
 *
 * @param call - gets the number of calls before it
 * @param intervalMs - from the start of one call to the start of the next, unless the call takes longer
 * @returns the duration of each call, in milliseconds
 */
export async function callUntilDone(
  work: Promise<unknown>,
  call: (index: number) => Promise<unknown>,
  intervalMs = 0,
): Promise<number[]> {
  const callMs: number[] = [];
  const done = new AbortController();
  const makeCalls = async (): Promise<void> => {
    while (!done.signal.aborted) {
      const ms = await measureTime(() => call(callMs.length));
      callMs.push(ms);
      await sleep(Math.max(0, intervalMs - ms));
    }
  };
  await Promise.all([makeCalls(), work.finally(() => done.abort())]);
  return callMs;
}
