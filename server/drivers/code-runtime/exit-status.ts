import { constants } from "node:os";
import type { SandboxOutcome } from "../../../domain/ports/sandbox.ts";
import { FLOOD_BYTES } from "./captured-output.ts";
import { HEAP_MB, MEMORY_MB } from "./deno-command.ts";
import { withNotes, withoutCrashReport } from "./readable-errors.ts";

/** Why we stopped a program; `caller` when nobody wants it any more. */
export type StopReason = "time" | "output" | "caller";

export interface Ending {
  exitCode: number;
  timedOut: boolean;
  /** Why the program was stopped, for its author; `null` when it ended by itself. */
  note: string | null;
}

const TIMED_OUT = 124;
const STOPPED = 137;
const OUT_OF_MEMORY = `Stopped: the program needed more memory than the ${HEAP_MB} MB for JavaScript objects or the ${MEMORY_MB} MB in all. Work on less at a time.`;

/** How a run ended, from what the sandbox tells and why we stopped it, if we did. */
export function exitStatusOf(
  outcome: SandboxOutcome,
  stop: StopReason | null,
  timeoutMs: number,
  stderr: string,
): Ending {
  switch (outcome.reason) {
    case "exit":
      return { exitCode: outcome.code, timedOut: false, note: null };
    case "signal":
      return { exitCode: signalCode(outcome.signal), timedOut: false, note: crashNote(outcome.signal, stderr) };
    case "memory":
    case "disk":
      return { exitCode: STOPPED, timedOut: false, note: OUT_OF_MEMORY };
    case "time":
      return timeUp(timeoutMs);
    case "aborted":
      return stop === "output" ? flooded() : timeUp(timeoutMs);
  }
}

/** What the program printed to its error stream, and why it was stopped. */
export function withEnding(stderr: string, note: string | null): string {
  return note === null ? stderr : withNotes(withoutCrashReport(stderr), [note]);
}

function timeUp(timeoutMs: number): Ending {
  const note = `Stopped: the program was still running after ${timeoutMs} ms. Do less in one run, or allow more time.`;
  return { exitCode: TIMED_OUT, timedOut: true, note };
}

function flooded(): Ending {
  const note = `Stopped: the program printed more than ${FLOOD_BYTES / 1024} KB. Print less: only the beginning and the end are kept.`;
  return { exitCode: STOPPED, timedOut: false, note };
}

/** V8 ends the process with a trap or an abort when it finds no memory. */
function crashNote(signal: string, stderr: string): string {
  return /out of memory/i.test(stderr) ? OUT_OF_MEMORY : `Stopped: the program crashed its runtime (${signal}).`;
}

function signalCode(signal: string): number {
  return 128 + (constants.signals[signal as NodeJS.Signals] ?? 0);
}
