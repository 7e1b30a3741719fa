import { CommanderError } from "commander";
import { EXIT, explainError, type ExitCode, Interrupted } from "./cli-error.ts";
import { ConfigFile } from "./config-file.ts";
import type { Context } from "./context.ts";
import { readEnvironment } from "./environment.ts";
import { Output } from "./output.ts";
import { createProgram } from "./program.ts";
import { type GlobalOptions, Session } from "./session.ts";

/** Runs one command, and returns the exit code of the process. */
export async function run(args: readonly string[]): Promise<ExitCode> {
  const environment = readEnvironment();
  const interruption = listenForInterrupt();
  const closed = exitOnClosedOutput();
  const createOutput = (json: boolean) =>
    new Output({
      stdout: process.stdout,
      stderr: process.stderr,
      json,
      color: !environment.noColor,
      isDumbTerminal: environment.isDumbTerminal,
    });
  let context: Context | null = null;
  const program = createProgram(() => {
    const options = program.opts<GlobalOptions>();
    context = {
      environment,
      session: new Session(new ConfigFile(environment.configFolder), environment, options),
      output: createOutput(options.json === true),
      stdin: process.stdin,
      stderr: process.stderr,
      signal: interruption.signal,
    };
    return context;
  });
  try {
    configureExit(program);
    await Promise.race([program.parseAsync(args, { from: "user" }).catch(ignoreHelp), closed]);
    await Promise.race([flush(process.stdout), closed]);
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError) return EXIT.usage;
    const { aborted: isInterrupted, reason: interrupted } = interruption.signal;
    const reason: unknown = isInterrupted && !(error instanceof Interrupted) ? interrupted : error;
    const { message, exitCode } = explainError(reason, environment.token !== undefined);
    const output = (context as Context | null)?.output ?? createOutput(false);
    output.error(message);
    if (program.opts<GlobalOptions>().debug === true) console.error(error);
    // A command that still runs, such as one that follows a log, ends too.
    interruption.abort(error);
    return isInterrupted ? interruption.exitCode() : exitCode;
  } finally {
    (context as Context | null)?.output.endProgress();
  }
}

/** Commander throws after it has printed the help or the version. @throws every other error */
function ignoreHelp(error: unknown): void {
  if (!(error instanceof CommanderError) || error.exitCode !== 0) throw error;
}

/** Makes commander throw instead of ending the process, for the command and all commands below it. */
function configureExit(command: ReturnType<typeof createProgram>): void {
  command.exitOverride().showSuggestionAfterError().showHelpAfterError("(add --help for the usage)");
  for (const each of command.commands) configureExit(each);
}

/** The signals that end a command, and the exit code of each: 128 and the number of the signal. */
const SIGNALS = {
  SIGINT: { exitCode: EXIT.interrupted, message: "Interrupted." },
  SIGTERM: { exitCode: EXIT.terminated, message: "Terminated." },
} as const;

interface Interruption {
  signal: AbortSignal;
  /** Ends the command because of an error. */
  abort(reason: unknown): void;
  /** The exit code of the signal that the process has received. */
  exitCode(): ExitCode;
}

/** The first Ctrl-C ends the command in order, the second one at once. */
function listenForInterrupt(): Interruption {
  const controller = new AbortController();
  let received: ExitCode = EXIT.interrupted;
  for (const name of ["SIGINT", "SIGTERM"] as const)
    process.on(name, () => {
      const { exitCode, message } = SIGNALS[name];
      if (controller.signal.aborted) process.exit(exitCode);
      received = exitCode;
      controller.abort(new Interrupted(message));
    });
  return { signal: controller.signal, abort: (reason) => controller.abort(reason), exitCode: () => received };
}

/** Waits until everything is written, because a full disk is reported only then. */
function flush(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write("", () => setImmediate(resolve));
  });
}

/**
 * A reader that has seen enough, such as `head`, closes the pipe, and the process ends without an error. Every other error
 * of standard output, such as a full disk, rejects the returned promise.
 */
function exitOnClosedOutput(): Promise<never> {
  return new Promise((_resolve, reject) => {
    process.stdout.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit(EXIT.ok);
      reject(error);
    });
    process.stderr.on("error", () => undefined);
  });
}
