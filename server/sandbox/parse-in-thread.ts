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

/**
 * Like `parseInThread`, for a result of several parts. The script posts the next part when it receives a message, and
 * `null` after the last one. Receiving a large result at once would block the service.
 *
 * @returns the parts, or `undefined` if the script breaks a bound of time or memory
 * @throws what the script throws
 */
export async function collectFromThread(
  script: URL,
  workerData: unknown,
  { timeoutMs, heapMb }: { timeoutMs: number; heapMb: number },
): Promise<unknown[] | undefined> {
  const thread = new Worker(script, { workerData, env: {}, resourceLimits: { maxOldGenerationSizeMb: heapMb } });
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const parts: unknown[] = [];
    for (;;) {
      const received = once(thread, "message", { signal });
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- the rule is for windows; this is a thread
      thread.postMessage("next");
      const [part] = (await received) as [unknown];
      if (part === null) return parts;
      parts.push(part);
    }
  } catch (error) {
    if (signal.aborted || (error as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY") return undefined;
    throw error;
  } finally {
    await thread.terminate();
  }
}
