import { once } from "node:events";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { Client } from "../../sdk/src/client.ts";
import { Interrupted, usageError } from "./cli-error.ts";
import type { Environment } from "./environment.ts";
import type { Output, OutputStream } from "./output.ts";
import type { Session } from "./session.ts";

/** What a command needs. */
export interface Context {
  environment: Environment;
  session: Session;
  output: Output;
  stdin: Readable & { isTTY?: boolean };
  stderr: OutputStream;
  /** Aborted when the user interrupts the command. */
  signal: AbortSignal;
}

/** Creates the client, and shows on a terminal that the command is waiting for the service. */
export async function connect({ session, output }: Context, progress: string): Promise<Client> {
  output.progress(progress);
  return session.client();
}

/**
 * Asks before something is deleted.
 *
 * @param isConfirmed - the option `--yes`
 * @throws {CliError} without a terminal to ask on
 * @throws {Interrupted} when the user does not confirm
 */
export async function confirm(context: Context, question: string, isConfirmed: boolean): Promise<void> {
  if (isConfirmed) return;
  const { stdin, stderr, output, signal } = context;
  if (stdin.isTTY !== true || stderr.isTTY !== true)
    throw usageError("This deletes data, and there is no terminal to ask on. Add --yes to confirm it.");
  output.endProgress();
  // Loaded here, because few commands ask.
  const { createInterface } = await import("node:readline/promises");
  const prompt = createInterface({ input: stdin, output: stderr });
  // Readline closes itself on Ctrl-D, and reads Ctrl-C as a key, which is not a signal then.
  const closed = once(prompt, "close").then(() => null);
  try {
    const reply = await Promise.race([prompt.question(`${question} [y/N] `, { signal }).catch(() => null), closed]);
    if (reply === null) stderr.write("\n");
    if (!/^y(es)?$/i.test(reply?.trim() ?? "")) throw new Interrupted("Nothing was changed.");
  } finally {
    prompt.close();
  }
}

/** Reads a value from standard input. @throws {CliError} when standard input is a terminal, or empty */
export async function readStdin({ stdin }: Context, what: string): Promise<string> {
  const value = stdin.isTTY === true ? "" : (await text(stdin)).replace(/\r?\n$/, "");
  if (value === "") throw usageError(`${what} is missing. Pass it on standard input.`);
  return value;
}
