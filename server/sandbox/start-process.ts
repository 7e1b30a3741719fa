import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Duplex } from "node:stream";
import { TOOL_ENVIRONMENT } from "./system-tools.ts";

export interface ProcessRequest {
  /** The program and its arguments. It runs in `/`, with the environment of the tools that create a sandbox. */
  argv: readonly [program: string, ...programArguments: string[]];
  /** The number of file descriptors, from 0 on. Each is a pipe. */
  descriptors: number;
  /** What the process reads from these file descriptors. */
  inputs: ReadonlyMap<number, string | Buffer>;
}

export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A process that runs or has ended. */
export interface StartedProcess {
  pid: number;
  /** Our end of each pipe, except those with an input. */
  pipes: readonly (Duplex | undefined)[];
  /** Whether the process has ended, so that its pid may belong to another process. */
  hasExited(): boolean;
  /** The end of the process. Rejects when it can no longer be observed. */
  exit: Promise<ProcessExit>;
}

/** Starts a process. Rejects when the program cannot be started. */
export type StartProcess = (request: ProcessRequest) => Promise<StartedProcess>;

/** Starts a process as a child of the service. */
export const startChild: StartProcess = async ({ argv: [program, ...programArguments], descriptors, inputs }) => {
  const stdio = Array.from({ length: descriptors }, () => "pipe" as const);
  const child = spawn(program, programArguments, { cwd: "/", env: TOOL_ENVIRONMENT, stdio });
  const exit = exitOf(child);
  const pipes = child.stdio as unknown as Duplex[];
  // A process that ends early closes its pipes. Its exit then contains the reason.
  for (const pipe of pipes) pipe.on("error", () => undefined);
  for (const [descriptor, input] of inputs) pipes[descriptor]?.end(input);
  await once(child, "spawn");
  const hasExited = () => child.exitCode !== null || child.signalCode !== null;
  return {
    pid: child.pid ?? 0,
    pipes: pipes.map((pipe, index) => (inputs.has(index) ? undefined : pipe)),
    hasExited,
    exit,
  };
};

/** The end of a child process. Rejects when it cannot be started; that need not be handled. */
export function exitOf(child: ChildProcess): Promise<ProcessExit> {
  const exit = waitForExit(child);
  exit.catch(() => undefined);
  return exit;
}

async function waitForExit(child: ChildProcess): Promise<ProcessExit> {
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  return { code, signal };
}
