import { flushCompileCache } from "node:module";
import { readConfig, ConfigError } from "../config.ts";
import { startService } from "../composition/start-service.ts";
import { DatabaseUnavailable } from "../database/database-unavailable.ts";
import { FolderInUse } from "../files/folder-lock.ts";
import { createLogger, type Logger } from "../telemetry/logger.ts";
import { startupMessage } from "./startup-message.ts";

/** The longest graceful shutdown, in milliseconds. The next start continues unfinished work. */
const STOP_MS = 30_000;
/** The delay after which compiled code is saved for the next start, in milliseconds. It keeps the first requests fast. */
const SAVE_CODE_MS = 5000;

/**
 * Runs the service until a signal stops it. An error that prevents the start ends the process with exit code 1.
 *
 * @param onStarted - called when the service accepts requests
 */
export async function runService(onStarted: () => void): Promise<void> {
  try {
    const config = readConfig();
    const log = createLogger(config.logLevel);
    process.on("unhandledRejection", (err) => log.error({ err }, "unhandled promise rejection"));
    const starting = startService(config, log);
    stopOnSignal(async () => (await starting).stop(), log);
    const service = await starting;
    onStarted();
    process.stdout.write(startupMessage(service, config));
    setTimeout(flushCompileCache, SAVE_CODE_MS).unref();
  } catch (error) {
    process.stderr.write(`${describeStartError(error)}\n`);
    process.exit(1);
  }
}

/**
 * The first signal starts a graceful shutdown. A second signal, or the end of `STOP_MS`, ends the process immediately.
 */
function stopOnSignal(stop: () => Promise<void>, log: Logger): void {
  let isStopping = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (isStopping) process.exit(1);
    isStopping = true;
    log.info({ signal }, "stopping");
    setTimeout(() => process.exit(1), STOP_MS).unref();
    stop().then(
      () => process.exit(0),
      (err: unknown) => {
        log.error({ err }, "the stop failed");
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
}

/** One line for errors that the operator can resolve, otherwise the stack. */
function describeStartError(error: unknown): string {
  const { message, code, stack } = error as NodeJS.ErrnoException;
  if (code === "EADDRINUSE") return `${message}. Stop the program that listens there, or set PORT or EDGE_PORT.`;
  const isExplained = [ConfigError, FolderInUse, DatabaseUnavailable].some((kind) => error instanceof kind);
  return isExplained ? message : (stack ?? String(error));
}
