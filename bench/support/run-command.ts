import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

interface CommandOptions {
  cwd?: string;
  /** The complete environment; that of this process by default. */
  env?: NodeJS.ProcessEnv;
  signal: AbortSignal;
}

/**
 * Runs a command and returns its standard output.
 *
 * @throws with the command's error output when it fails, or with the reason of `signal`
 */
export async function runCommand(
  [command, ...args]: [string, ...string[]],
  { signal, ...options }: CommandOptions,
): Promise<string> {
  signal.throwIfAborted();
  const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"], signal, killSignal: "SIGKILL" });
  const [[code], output, errors] = await Promise.all([
    once(child, "close") as Promise<[number | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  if (code !== 0) throw new Error(`${command} exited with code ${code}: ${errors || output}`);
  return output;
}
