import { constants } from "node:os";
import { WORKSPACE_LIMITS } from "../../../domain/ports/agent-workspaces.ts";
import type { SandboxOutcome } from "../../ports/sandbox.ts";
import { MAX_PRINTED_BYTES } from "./captured-output.ts";
import { HEAP_MB, MEMORY_MB } from "./deno-command.ts";
import { appendLines, withoutCrashReport } from "./readable-errors.ts";
import type { StopReason } from "./sandboxed-deno.ts";

export interface ExitStatus {
  exitCode: number;
  timedOut: boolean;
  /** Why the program was stopped, for its author. `null` when it ended by itself. */
  note: string | null;
}

/** The exit code of `timeout` in a shell. */
const TIMED_OUT = 124;
/** 128 + SIGKILL. */
const KILLED = 137;
const OUT_OF_MEMORY_NOTE = `Stopped: the program needed more memory than the ${HEAP_MB} MB for JavaScript objects or the ${MEMORY_MB} MB in total. Process less data at a time.`;

const WORKSPACE_FULL_NOTE = `Stopped: the program wrote more than ${WORKSPACE_LIMITS.bytes / 1024 ** 2} MiB to /workspace. Remove files, or write less.`;
const LARGE_FILE_NOTE = `Stopped: the program made a file larger than ${WORKSPACE_LIMITS.bytes / 1024 ** 2} MiB.`;

/** Derives the exit status of a program from how its sandbox ended. */
export function getExitStatus(
  outcome: SandboxOutcome,
  stopReason: StopReason | null,
  timeoutMs: number,
  stderr: string,
): ExitStatus {
  switch (outcome.reason) {
    case "exit":
      return { exitCode: outcome.code, timedOut: false, note: null };
    case "signal":
      return { exitCode: getSignalCode(outcome.signal), timedOut: false, note: describeCrash(outcome.signal, stderr) };
    case "disk":
      return { exitCode: KILLED, timedOut: false, note: WORKSPACE_FULL_NOTE };
    case "memory":
      return { exitCode: KILLED, timedOut: false, note: OUT_OF_MEMORY_NOTE };
    case "time":
      return createTimeoutStatus(timeoutMs);
    case "aborted":
      return stopReason === "output" ? createOutputLimitStatus() : createTimeoutStatus(timeoutMs);
  }
}

/** Adds notes to what the program printed to its error stream. */
export function appendNotes(stderr: string, notes: readonly string[]): string {
  return notes.length === 0 ? stderr : appendLines(withoutCrashReport(stderr), notes);
}

function createTimeoutStatus(timeoutMs: number): ExitStatus {
  const note = `Stopped: the program was still running after ${timeoutMs} ms. Do less in one run, or allow more time.`;
  return { exitCode: TIMED_OUT, timedOut: true, note };
}

function createOutputLimitStatus(): ExitStatus {
  const note = `Stopped: the program printed more than ${MAX_PRINTED_BYTES / 1024} KB. Print less: only the beginning and the end are kept.`;
  return { exitCode: KILLED, timedOut: false, note };
}

/** V8 crashes the process with a trap or an abort signal when it runs out of memory. */
function describeCrash(signal: string, stderr: string): string {
  if (signal === "SIGXFSZ") return LARGE_FILE_NOTE;
  return /out of memory/i.test(stderr) ? OUT_OF_MEMORY_NOTE : `Stopped: the program crashed its runtime (${signal}).`;
}

function getSignalCode(signal: string): number {
  return 128 + (constants.signals[signal as NodeJS.Signals] ?? 0);
}
