import { once } from "node:events";
import { readdir, readlink, stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { OutputListener } from "../../domain/ports/git-source.ts";
import type { SandboxCommand, SandboxLimits } from "../ports/sandbox.ts";
import type { Placement } from "./cgroups/placement.ts";
import { DiskUsage } from "./disk-usage.ts";
import { measuredFolders } from "./file-ownership.ts";
import { cpuMs, isRunning, residentMb } from "./process-tree.ts";
import type { ProcessExit } from "./start-process.ts";

const MEMORY_POLL_MS = 100;
const FILES_POLL_MS = 500;
const MEBIBYTE = 1024 * 1024;

const SHUTDOWN_POLL_MS = 10;
/** How long a command may take to end after the processes that handle SIGTERM have ended. */
const EXIT_MS = 1000;

/** How long to wait for output that the command wrote before it ended. */
const DRAIN_MS = 1000;

export interface MonitoredProcess {
  /** `undefined` if it could not be started; `exit` then rejects. */
  pid: number | undefined;
  exit: Promise<ProcessExit>;
  /** All output of the command, or all except `errors`. */
  output: Readable | null;
  /** The command's standard error, if it is separate. */
  errors: Readable | null;
  /** What the tools print that start the command. The caller reads it. */
  messages: Readable | null;
  /** Kills every process of the command. May be called repeatedly, but not after the process has exited. */
  kill(): void;
  /** Sends SIGTERM to the processes of the command that handle it, and returns them. Not called after the process has exited. */
  terminate(): number[];
  placement: Placement;
  /** Called when the process has exited. Returns when no process of the command exists any more. */
  cleanUp(): Promise<void>;
}

/** Why the service killed a command. */
type KillReason = "time" | "memory" | "disk" | "aborted";

export interface MonitoredExit extends ProcessExit {
  /** `null` if the service did not kill the command. */
  killReason: KillReason | null;
}

type Kill = (reason: KillReason) => void;

/** Forwards the output of a running command until it ends, and kills it when it exceeds a limit or is aborted. */
export async function monitorProcess(running: MonitoredProcess, command: SandboxCommand): Promise<MonitoredExit> {
  let killReason: KillReason | null = null;
  let hasExited = false;
  const kill: Kill = (reason) => {
    // A measurement may finish after the command has exited, when its pid can belong to another process.
    if (hasExited) return;
    killReason ??= reason;
    running.kill();
  };
  forwardOutput(running.output, command.limits, command.onOutput);
  forwardOutput(running.errors, command.limits, command.onErrorOutput);
  const disk = diskUsage(command);
  const stopWatching = watch(running, command, disk, kill);
  const { pid, placement } = running;
  if (pid !== undefined) command.onStart?.(() => (hasExited ? 0 : cpuMs(placement.processes(pid))));
  try {
    const { code, signal } = await running.exit;
    hasExited = true;
    stopWatching();
    await running.cleanUp();
    await drainOutput(running);
    if (killReason === null && running.placement.hasExceededMemory()) killReason = "memory";
    if (killReason === null && (await disk?.isExceeded())) killReason = "disk";
    return { killReason, code, signal };
  } finally {
    stopWatching();
  }
}

/** Forwards output up to the limit and discards the rest. All of it is read, or the command would block on a full pipe. */
function forwardOutput(stream: Readable | null, limits: SandboxLimits, listener: OutputListener | undefined): void {
  let remaining = limits.outputBytes;
  stream?.on("data", (chunk: Buffer) => {
    if (remaining > 0) listener?.(chunk.subarray(0, remaining));
    remaining -= chunk.length;
  });
  if (stream !== null && limits.outputBytesPerSecond !== undefined) slowDown(stream, limits.outputBytesPerSecond);
}

/** Reads a stream no faster than this. */
function slowDown(stream: Readable, bytesPerSecond: number): void {
  let secondEndsAt = 0;
  let bytes = 0;
  stream.on("data", (chunk: Buffer) => {
    const now = Date.now();
    if (now >= secondEndsAt) [secondEndsAt, bytes] = [now + 1000, 0];
    bytes += chunk.length;
    if (bytes <= bytesPerSecond) return;
    stream.pause();
    setTimeout(() => stream.resume(), secondEndsAt - now).unref();
  });
}

function diskUsage(command: SandboxCommand): DiskUsage | null {
  const folders = measuredFolders(command);
  const { diskMb } = command.limits;
  return diskMb === null || folders.length === 0 ? null : new DiskUsage(folders, diskMb);
}

function watch(running: MonitoredProcess, command: SandboxCommand, disk: DiskUsage | null, kill: Kill): () => void {
  const { limits, signal, shutdown } = command;
  const { pid } = running;
  const abort = () => kill("aborted");
  const stopped = new AbortController();
  const shutDown = () => void shutDownProcess(running, shutdown?.graceMs ?? 0, { kill, stopped: stopped.signal });
  const wallTime = limits.wallTimeMs === Infinity ? undefined : setTimeout(() => kill("time"), limits.wallTimeMs);
  const polls = pid === undefined ? [] : [pollMemory(pid, running, limits, kill)];
  // Files without a name count as memory or as disk. Nothing else needs a measurement of files.
  const measuresFiles = disk !== null || !running.placement.isMemoryLimited;
  if (pid !== undefined && measuresFiles) polls.push(pollFiles(pid, running, limits, disk, kill));
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  shutdown?.signal.addEventListener("abort", shutDown);
  if (shutdown?.signal.aborted === true) shutDown();
  return () => {
    stopped.abort();
    [wallTime, ...polls].forEach(clearTimeout);
    signal.removeEventListener("abort", abort);
    shutdown?.signal.removeEventListener("abort", shutDown);
  };
}

/** Lets the processes that handle SIGTERM end, and then kills the rest. */
async function shutDownProcess(
  running: MonitoredProcess,
  graceMs: number,
  { kill, stopped }: { kill: Kill; stopped: AbortSignal },
): Promise<void> {
  const terminated = running.terminate();
  const waitWhile = async (timeoutMs: number, isWaiting: () => boolean) => {
    const endsAt = performance.now() + timeoutMs;
    while (!stopped.aborted && performance.now() < endsAt && isWaiting()) await sleep(SHUTDOWN_POLL_MS);
  };
  await waitWhile(graceMs, () => terminated.some(isRunning));
  // Then the shell that started them ends, and the command with it.
  if (terminated.length > 0 && !terminated.some(isRunning)) await waitWhile(EXIT_MS, () => true);
  kill("aborted");
}

function pollMemory(
  pid: number,
  { placement }: MonitoredProcess,
  { memoryMb }: SandboxLimits,
  kill: Kill,
): NodeJS.Timeout {
  return setInterval(() => {
    if (placement.isMemoryLimited ? placement.hasExceededMemory() : residentMb(pid) > memoryMb) kill("memory");
  }, MEMORY_POLL_MS);
}

/** Runs one measurement at a time. If one fails, the measurement after the exit still applies the limit. */
function pollFiles(
  pid: number,
  { placement }: MonitoredProcess,
  { memoryMb }: SandboxLimits,
  disk: DiskUsage | null,
  kill: Kill,
): NodeJS.Timeout {
  const measure = async (): Promise<void> => {
    const deleted = await deletedOpenFiles(placement.processes(pid));
    if (deleted.memory > memoryMb * MEBIBYTE) kill("memory");
    if (await disk?.mayBeExceeded(deleted.disk)) kill("disk");
  };
  let isMeasuring = false;
  return setInterval(() => {
    if (isMeasuring) return;
    isMeasuring = true;
    void measure()
      .catch(() => undefined)
      .finally(() => (isMeasuring = false));
  }, FILES_POLL_MS);
}

/** The wait is bounded, because a process that escaped the kill may keep the pipes open. */
async function drainOutput({ output, errors, messages }: MonitoredProcess): Promise<void> {
  const streams = [output, errors, messages].filter((stream) => stream !== null).filter((stream) => !stream.closed);
  const stopWaiting = new AbortController();
  const closed = Promise.all(streams.map((stream) => once(stream, "close")));
  await Promise.race([closed, sleep(DRAIN_MS, undefined, { signal: stopWaiting.signal }).catch(() => undefined)]);
  stopWaiting.abort();
  for (const stream of streams) stream.destroy();
}

/** In bytes. */
interface DeletedOpenFiles {
  memory: number;
  disk: number;
}

/**
 * The size of files without a name that processes have open: deleted files, which a walk of the folders does not
 * find, and memory files, which the kernel counts for no process.
 */
async function deletedOpenFiles(pids: readonly number[]): Promise<DeletedOpenFiles> {
  const files = new Map<string, { bytes: number; memory: boolean }>();
  for (const pid of pids) {
    const descriptors = await orElse(readdir(`/proc/${pid}/fd`), []);
    await Promise.all(descriptors.map((descriptor) => addDeleted(`/proc/${pid}/fd/${descriptor}`, files)));
  }
  const total = { memory: 0, disk: 0 };
  for (const { bytes, memory } of files.values()) total[memory ? "memory" : "disk"] += bytes;
  return total;
}

/** Counts a file once, even if several descriptors have it open. */
async function addDeleted(descriptor: string, files: Map<string, { bytes: number; memory: boolean }>): Promise<void> {
  const target = await orElse(readlink(descriptor), "");
  if (!target.endsWith(" (deleted)")) return;
  const file = await orElse(stat(descriptor), null);
  if (file?.isFile()) {
    files.set(`${file.dev}:${file.ino}`, { bytes: file.blocks * 512, memory: target.startsWith("/memfd:") });
  }
}

/** Processes end and close descriptors while we read about them. */
async function orElse<T>(read: Promise<T>, fallback: T): Promise<T> {
  return read.catch(() => fallback);
}
