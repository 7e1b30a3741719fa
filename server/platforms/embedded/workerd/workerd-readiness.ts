import { setTimeout as sleep } from "node:timers/promises";
import { NoHandler, UnhealthyScript } from "../../../../domain/ports/edge-platform.ts";
import { CpuTimeLimit } from "../cpu-time-limit.ts";
import type { WorkerdOutput } from "./workerd-output.ts";

interface StartingWorkerd<T> {
  /** Resolves when the process listens. */
  ready: Promise<T>;
  output: WorkerdOutput;
  /** Resolves when the process has exited. */
  exited: Promise<void>;
  readCpuMs: () => Promise<number>;
}

const CHECK_INTERVAL_MS = 500;

/**
 * Waits until a starting process listens.
 *
 * @param limitMs - of the CPU time that the start may use
 * @returns what `ready` resolves to
 * @throws {UnhealthyScript} when the script prevents the start, or is not ready in time
 * @throws {Error} with the message of workerd or of the sandbox, when the script did not cause the failure
 */
export async function untilReady<T>(starting: StartingWorkerd<T>, limitMs: number, signal: AbortSignal): Promise<T> {
  const finished = new AbortController();
  const timers = { signal: AbortSignal.any([signal, finished.signal]) };
  const late = untilLate(starting.readCpuMs, new CpuTimeLimit(limitMs, 0), timers.signal);
  const exited = starting.exited.then(() => {
    throw new Error("The process exited before it was ready");
  });
  const flooded = starting.output.flooded.then(() => {
    throw new UnhealthyScript("The script prints without end while it starts.");
  });
  try {
    return await Promise.race([starting.ready, late, exited, flooded]);
  } catch (cause) {
    signal.throwIfAborted();
    throw explainFailure(cause, starting.output);
  } finally {
    finished.abort();
    // The promises that lost the race reject after the abort, without a handler.
    late.catch(() => {});
    exited.catch(() => {});
    flooded.catch(() => {});
  }
}

/** @throws {UnhealthyScript} when a start exceeds its limit */
async function untilLate(readCpuMs: () => Promise<number>, limit: CpuTimeLimit, signal: AbortSignal): Promise<never> {
  for (;;) {
    await sleep(CHECK_INTERVAL_MS, null, { signal });
    const excess = limit.exceededBy(await readCpuMs());
    if (excess === null) continue;
    const seconds = excess.limitMs / 1000;
    throw new UnhealthyScript(
      excess.of === "cpu"
        ? `The script used ${seconds} s of CPU time and did not start. Its top-level code may contain an endless loop.`
        : `The script did not start within ${seconds} s. Its top-level code may wait for something, or the machine is busy: try again.`,
    );
  }
}

function explainFailure(cause: unknown, output: WorkerdOutput): unknown {
  if (cause instanceof UnhealthyScript) return cause;
  const reason = output.lastError();
  const details = { cause, printed: output.firstLines() };
  if (reason !== null && /map entry 'default'/.test(reason))
    return new NoHandler("The default export of the script is not a handler.", { cause });
  if (reason !== null) return new UnhealthyScript(`The script did not start: ${reason}`, details);
  return new Error(`workerd did not start: ${output.tail()}`, { cause });
}
