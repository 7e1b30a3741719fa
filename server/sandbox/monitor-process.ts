import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Readable } from "node:stream";
import type { OutputListener } from "../../domain/ports/git-source.ts";
import type { SandboxCommand, SandboxLimits } from "../../domain/ports/sandbox.ts";
import { DiskUsage } from "./disk-usage.ts";
import { deletedOpenFiles } from "./deleted-open-files.ts";
import { writableFolders } from "./file-ownership.ts";
import { residentMb } from "./process-tree.ts";

const MEMORY_POLL_MS = 100;
const FILES_POLL_MS = 500;
const MEBIBYTE = 1024 * 1024;

/** How long output that was already written may take to be read after the command is gone. */
const DRAIN_MS = 1000;

export interface RunningCommand {
  /** Its standard output is the command's whole output, or all but `errors`. */
  child: ChildProcess;
  /** The command's standard error, where it is kept apart. */
  errors: Readable | null;
  /** Ends every process of the command at once. May be called repeatedly, but not after the child has ended. */
  kill(): void;
  /** Called when the child has ended: ends what it left behind, and returns when no process of it exists any more. */
  endRest(): Promise<void>;
}

export interface Ending {
  /** The bound that made us kill the command; `null` when it ended by itself. */
  bound: "time" | "memory" | "disk" | "aborted" | null;
  code: number | null;
  signal: NodeJS.Signals | null;
}

type End = (bound: NonNullable<Ending["bound"]>) => void;

/** Sees a started command to its end: hands its output on and holds it to its limits and to its abort signal. */
export async function monitorProcess(running: RunningCommand, command: SandboxCommand): Promise<Ending> {
  let bound: Ending["bound"] = null;
  let ended = false;
  const end: End = (reason) => {
    // A measurement may outlast the command, whose pid is somebody else's then.
    if (ended) return;
    bound ??= reason;
    running.kill();
  };
  forwardOutput(running.child.stdout, command.limits, command.onOutput);
  forwardOutput(running.errors, command.limits, command.onErrorOutput);
  const disk = diskUsage(command);
  const unwatch = watch(running.child, command, disk, end);
  try {
    const [code, signal] = (await once(running.child, "exit")) as [number | null, NodeJS.Signals | null];
    ended = true;
    unwatch();
    await running.endRest();
    await drained(running);
    if (bound === null && (await disk?.isExceeded())) bound = "disk";
    return { bound, code, signal };
  } finally {
    unwatch();
  }
}

/** Reads everything, or a command that prints much would stall (or our memory fill); hands on what the limit allows. */
function forwardOutput(stream: Readable | null, limits: SandboxLimits, listener: OutputListener | undefined): void {
  let room = limits.outputBytes;
  stream?.on("data", (chunk: Buffer) => {
    if (room > 0) listener?.(chunk.subarray(0, room));
    room -= chunk.length;
  });
}

function diskUsage(command: SandboxCommand): DiskUsage | null {
  const folders = writableFolders(command);
  const { diskMb } = command.limits;
  return diskMb === null || folders.length === 0 ? null : new DiskUsage(folders, diskMb);
}

function watch(child: ChildProcess, command: SandboxCommand, disk: DiskUsage | null, end: End): () => void {
  const { limits, signal } = command;
  const { pid } = child;
  const abort = () => end("aborted");
  const wallTime = setTimeout(() => end("time"), limits.wallTimeMs);
  const polls = pid === undefined ? [] : [pollMemory(pid, limits, end), pollFiles(pid, limits, disk, end)];
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  return () => {
    [wallTime, ...polls].forEach(clearTimeout);
    signal.removeEventListener("abort", abort);
  };
}

function pollMemory(pid: number, { memoryMb }: SandboxLimits, end: End): NodeJS.Timeout {
  return setInterval(() => {
    if (residentMb(pid) > memoryMb) end("memory");
  }, MEMORY_POLL_MS);
}

/** One measurement at a time, however long it takes. One that fails is left to the measurement at the end. */
function pollFiles(pid: number, { memoryMb }: SandboxLimits, disk: DiskUsage | null, end: End): NodeJS.Timeout {
  const measure = async (): Promise<void> => {
    const nameless = await deletedOpenFiles(pid);
    if (nameless.memory > memoryMb * MEBIBYTE) end("memory");
    if (await disk?.seemsExceeded(nameless.disk)) end("disk");
  };
  let measuring = false;
  return setInterval(() => {
    if (measuring) return;
    measuring = true;
    void measure()
      .catch(() => undefined)
      .finally(() => (measuring = false));
  }, FILES_POLL_MS);
}

/** A process that escaped the kill may hold our pipes open for ever, so the wait is bounded. */
async function drained({ child, errors }: RunningCommand): Promise<void> {
  const streams = [child.stdout, child.stderr, errors]
    .filter((stream) => stream !== null)
    .filter((stream) => !stream.closed);
  const giveUp = new AbortController();
  const closed = Promise.all(streams.map((stream) => once(stream, "close")));
  await Promise.race([closed, sleep(DRAIN_MS, undefined, { signal: giveUp.signal }).catch(() => undefined)]);
  giveUp.abort();
  for (const stream of streams) stream.destroy();
}
