import { once } from "node:events";
import { Worker } from "node:worker_threads";

const HEAP_MB = 128;

/**
 * Runs a script on untrusted data in a thread of its own, and ends the thread with the result.
 *
 * @param workerData - what the script receives as `workerData`
 * @returns the message that the script posts, or `undefined` if the script fails or breaks a bound of time or memory
 */
export async function parseInThread(script: URL, workerData: unknown, timeoutMs: number): Promise<unknown> {
  const thread = new Worker(script, { workerData, env: {}, resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } });
  try {
    const [message] = (await once(thread, "message", { signal: AbortSignal.timeout(timeoutMs) })) as [unknown];
    return message;
  } catch {
    return undefined;
  } finally {
    await thread.terminate();
  }
}
