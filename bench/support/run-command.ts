import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

interface RunOptions {
  cwd?: string;
  /** The whole environment; ours when left out. */
  env?: NodeJS.ProcessEnv;
  signal: AbortSignal;
}

/**
 * Runs a program to its end and returns what it printed.
 *
 * @throws with its error output when it fails, or with the reason of `signal`
 */
export async function runProgram(
  [program, ...args]: [string, ...string[]],
  { signal, ...options }: RunOptions,
): Promise<string> {
  signal.throwIfAborted();
  const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"], signal, killSignal: "SIGKILL" });
  const [[code], output, errors] = await Promise.all([
    once(child, "close") as Promise<[number | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${errors || output}`);
  return output;
}
