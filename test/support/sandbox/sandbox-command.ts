import { readdir, readFile } from "node:fs/promises";
import type { Sandbox, SandboxCommand, SandboxLimits, SandboxOutcome } from "../../../domain/ports/sandbox.ts";

export interface SandboxRun {
  outcome: SandboxOutcome;
  output: Buffer;
}

type Choices = Partial<Omit<SandboxCommand, "limits">> & { limits?: Partial<SandboxLimits> };

const LIMITS: SandboxLimits = {
  wallTimeMs: 30_000,
  memoryMb: 512,
  processes: 128,
  fileSizeMb: 256,
  diskMb: null,
  outputBytes: 1_000_000,
};

/** Runs one command with generous limits and nothing else, but for what the test chooses. */
export async function runIn(
  sandbox: Sandbox,
  argv: SandboxCommand["argv"],
  choices: Choices = {},
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
    ...choices,
    limits: { ...LIMITS, ...choices.limits },
  });
  return { outcome, output: Buffer.concat(chunks) };
}

/** Runs a shell script; the script is the test's own. */
export function runScript(sandbox: Sandbox, script: string, choices: Choices = {}): Promise<SandboxRun> {
  return runIn(sandbox, ["sh", "-c", script], choices);
}

/** The processes of this machine that have `mark` in their command line. A zombie has no command line any more. */
export async function processesWith(mark: string): Promise<number[]> {
  const pids = (await readdir("/proc")).map(Number).filter((pid) => pid > 0 && pid !== process.pid);
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return pids.filter((_, index) => lines[index]?.includes(mark));
}
