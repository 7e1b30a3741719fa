import { setTimeout as sleep } from "node:timers/promises";
import { timed } from "./request-app.ts";

/**
 * Makes one call after the other until `work` is done.
 *
 * @param call - told how many calls were made before
 * @param everyMs - from the start of a call to that of the next one, in milliseconds, unless the call takes longer
 * @returns how long each call took, in milliseconds
 */
export async function callsWhile(
  work: Promise<unknown>,
  call: (at: number) => Promise<unknown>,
  everyMs = 0,
): Promise<number[]> {
  const callMs: number[] = [];
  const over = new AbortController();
  const calling = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const ms = await timed(() => call(callMs.length));
      callMs.push(ms);
      await sleep(Math.max(0, everyMs - ms));
    }
  };
  await Promise.all([calling(), work.finally(() => over.abort())]);
  return callMs;
}
