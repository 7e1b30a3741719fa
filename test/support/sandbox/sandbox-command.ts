import { readdir, readFile } from "node:fs/promises";
import type { Sandbox, SandboxCommand, SandboxLimits, SandboxOutcome } from "../../../server/ports/sandbox.ts";
import { WAIT_LIMIT_MS } from "../time-limits.ts";

export interface SandboxRun {
  outcome: SandboxOutcome;
  output: Buffer;
}

type CommandOptions = Partial<Omit<SandboxCommand, "limits">> & { limits?: Partial<SandboxLimits> };

const LIMITS: SandboxLimits = {
  wallTimeMs: WAIT_LIMIT_MS,
  memoryMb: 512,
  processes: 128,
  fileSizeMb: 256,
  diskMb: null,
  outputBytes: 1_000_000,
};

/** Runs one command with high limits and no mounts, except for the given options. */
export async function runIn(
  sandbox: Sandbox,
  argv: SandboxCommand["argv"],
  options: CommandOptions = {},
): Promise<SandboxRun> {
  const chunks: Uint8Array[] = [];
  const outcome = await sandbox.run({
    argv,
    cwd: "/",
    env: { PATH: "/opt/node/bin:/usr/bin:/bin" },
    mounts: [],
    network: { kind: "none" },
    onOutput: (chunk) => chunks.push(chunk),
    signal: new AbortController().signal,
    ...options,
    limits: { ...LIMITS, ...options.limits },
  });
  return { outcome, output: Buffer.concat(chunks) };
}

/** Runs a shell script of the test. */
export function runScript(sandbox: Sandbox, script: string, options: CommandOptions = {}): Promise<SandboxRun> {
  return runIn(sandbox, ["sh", "-c", script], options);
}

/** The processes of this machine whose command line contains `mark`. A zombie has no command line any more. */
export function processesWith(mark: string): Promise<number[]> {
  return findProcesses((commandLine) => commandLine.includes(mark));
}

/** The processes of this machine that run exactly this command, without those that only start it. */
export function processesRunning(command: string[]): Promise<number[]> {
  const expected = command.map((word) => `${word}\0`).join("");
  return findProcesses((commandLine) => commandLine === expected);
}

async function findProcesses(matches: (commandLine: string) => boolean): Promise<number[]> {
  const pids = (await readdir("/proc")).map(Number).filter((pid) => pid > 0 && pid !== process.pid);
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return pids.filter((_, index) => matches(lines[index] ?? ""));
}
