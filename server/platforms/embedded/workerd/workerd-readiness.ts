import { setTimeout as sleep } from "node:timers/promises";
import type { Miniflare } from "miniflare";
import { UnhealthyScript } from "../../../../domain/ports/edge-platform.ts";
import type { WorkerdOutput } from "./workerd-output.ts";

interface Starting {
  miniflare: Miniflare;
  output: WorkerdOutput;
  /** Settles when the process has ended. */
  ended: Promise<void>;
}

/** Miniflare can miss the end of a process that never read its configuration, such as a sandbox that fails. */
const MISSED_END_MS = 1_000;

/**
 * Waits until a starting process listens.
 *
 * @throws {UnhealthyScript} when the script itself keeps it from starting, or is not ready in time
 * @throws what workerd or the sandbox said, when the script is not to blame
 */
export async function untilReady(starting: Starting, timeoutMs: number, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const stop = { signal: AbortSignal.any([signal, over.signal]) };
  const late = sleep(timeoutMs, null, stop).then(() => {
    throw new UnhealthyScript(`The script did not start within ${timeoutMs / 1000} s; does its top level loop?`);
  });
  const dead = starting.ended
    .then(() => sleep(MISSED_END_MS, null, stop))
    .then(() => {
      throw new Error("The process ended before it was ready");
    });
  // Miniflare keeps all output until the process is ready.
  const flooded = starting.output.flooded.then(() => {
    throw new UnhealthyScript("The script prints without end while it starts.");
  });
  try {
    await Promise.race([starting.miniflare.ready, late, dead, flooded]);
  } catch (cause) {
    signal.throwIfAborted();
    throw explained(cause, starting.output);
  } finally {
    over.abort();
    // The losers of the race end with the abort, and nobody waits for them.
    late.catch(() => {});
    dead.catch(() => {});
    flooded.catch(() => {});
  }
}

function explained(cause: unknown, output: WorkerdOutput): unknown {
  if (cause instanceof UnhealthyScript) return cause;
  const reason = output.lastError() ?? assetProblem(cause);
  if (reason !== null) return new UnhealthyScript(`The script did not start: ${reason}`, { cause });
  return new Error(`workerd did not start: ${output.tail()}`, { cause });
}

/** Miniflare holds static files to the platform's bounds; its message goes on with paths of this machine. */
function assetProblem(cause: unknown): string | null {
  const [first] = cause instanceof Error ? cause.message.split("\n") : [];
  if (first?.startsWith("Asset too large")) return "a static file is larger than 25 MiB.";
  if (first?.startsWith("Maximum number of assets")) return "it has too many static files.";
  return null;
}
