import { once } from "node:events";
import { Writable } from "node:stream";
import { usageError } from "./cli-error.ts";
import type { Context } from "./context.ts";

/**
 * Asks for a secret on a terminal, which does not show what is typed.
 *
 * @throws {CliError} when nothing is typed
 */
export async function promptSecret({ stdin, stderr, output, signal }: Context, name: string): Promise<string> {
  output.endProgress();
  const { createInterface } = await import("node:readline/promises");
  stderr.write(`${name}: `);
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input: stdin, output: hidden, terminal: true });
  // Readline closes itself on Ctrl-D, and reads Ctrl-C as a key.
  const closed = once(prompt, "close").then(() => "");
  try {
    const value = await Promise.race([prompt.question("", { signal }).catch(() => ""), closed]);
    stderr.write("\n");
    if (value === "") throw usageError(`The value of ${name} is missing.`);
    return value;
  } finally {
    prompt.close();
  }
}
