import { flushCompileCache } from "node:module";
import { setTimeout as delay } from "node:timers/promises";
import { type Config, readConfig } from "../config.ts";
import type { ServiceOptions } from "../composition/start-service.ts";
import { ConfigError } from "../config/config-error.ts";
import { DatabaseInUse } from "../database/database-lock.ts";
import { DatabaseUnavailable } from "../database/database-unavailable.ts";
import { databaseFolder } from "../database/embedded/embedded-postgres.ts";
import { startInBackground } from "../database/embedded/start-in-background.ts";
import { FolderInUse } from "../files/folder-lock.ts";
import { readInstallation } from "../installation/installation.ts";
import { createLogger, type Logger } from "../telemetry/logger.ts";
import { checkHost } from "./check-host.ts";
import { startupMessage } from "./startup-message.ts";

/** The longest graceful shutdown, in milliseconds. The next start continues unfinished work. */
const STOP_MS = 30_000;
/** The delay after which compiled code is saved for the next start, in milliseconds. It keeps the first requests fast. */
const SAVE_CODE_MS = 5000;

/**
 * Runs the service until a signal stops it. An error that prevents the start ends the process with exit code 1.
 *
 * @param stopProgress - called when the service accepts requests, or cannot start
 */
export async function runService(stopProgress: () => Promise<unknown>): Promise<void> {
  try {
    const config = readConfig();
    const log = createLogger(config.logLevel);
    process.on("unhandledRejection", (err) => log.error({ err }, "unhandled promise rejection"));
    await checkHost(config);
    await requireCompleteRestore(config.dataDirectory);
    const { embeddedDatabase } = await beginDatabaseStart(config, log);
    // Loading these modules takes most of the start and blocks this thread. PostgreSQL starts meanwhile.
    const { DATABASE_TAKEN, startService, TAKEN_OVER } = await import("../composition/start-service.ts");
    const starting = startService(config, log, {
      embeddedDatabase,
      onDatabaseTaken: (error) => stopBecause(DATABASE_TAKEN, error),
      onTakenOver: (error) => stopBecause(TAKEN_OVER, error),
    });
    const stopBecause = (reason: string, { message }: Error) => {
      log.fatal({ reason: message }, `${reason}: stopping`);
      stop(1);
    };
    const scheduled = new AsyncDisposableStack();
    const stop = createStop(
      {
        drain: async () => (await starting).drain(),
        stop: async () => {
          await scheduled.disposeAsync();
          await (await starting).stop();
        },
      },
      log,
    );
    for (const signal of ["SIGTERM", "SIGINT"] as const)
      process.on(signal, () => {
        log.info({ signal }, "stopping");
        // An operator who presses Ctrl+C does not wait for a load balancer.
        stop(0, signal === "SIGTERM" ? config.drainSeconds : 0);
      });
    const service = await starting;
    // A backup reads the files of the apps, which are where the edge is.
    if (config.backup.schedule !== null && config.roles.has("edge") && !service.isRestoredCopy) {
      const { startScheduledBackups } = await import("../backup/scheduled-backups.ts");
      scheduled.use(
        startScheduledBackups({ dataDirectory: config.dataDirectory, schedule: config.backup.schedule, log }),
      );
    }
    await stopProgress();
    process.stdout.write(startupMessage(service, config));
    setTimeout(flushCompileCache, SAVE_CODE_MS).unref();
  } catch (error) {
    await stopProgress();
    process.stderr.write(`${describeStartError(error)}\n`);
    process.exit(1);
  }
}

/** @throws {ConfigError} for the remains of an interrupted restore */
async function requireCompleteRestore(dataDirectory: string): Promise<void> {
  if ((await readInstallation(dataDirectory))?.state !== "restoring") return;
  throw new ConfigError(
    `DATA_DIR: ${dataDirectory} is incomplete, because a restore was interrupted. Repeat it: npm run admin -- restore PLACE`,
  );
}

/** Begins the start of the embedded PostgreSQL, if the configuration requires one. */
async function beginDatabaseStart(
  { databaseUrl, dataDirectory, databasePoolSize }: Config,
  log: Logger,
): Promise<Pick<ServiceOptions, "embeddedDatabase">> {
  if (databaseUrl !== null) return {};
  const { server } = await startInBackground(databaseFolder(dataDirectory), log, databasePoolSize);
  return { embeddedDatabase: server };
}

interface StopSteps {
  /** From now on the process is not ready, but serves requests. */
  drain(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Returns a function that drains the process, stops it gracefully, and ends it with the exit code. A second call, or the end of `STOP_MS` after
 * the drain, ends the process immediately.
 */
function createStop({ drain, stop }: StopSteps, log: Logger): (exitCode: number, drainSeconds?: number) => void {
  let isStopping = false;
  const run = async (drainMs: number): Promise<void> => {
    if (drainMs > 0) {
      await drain();
      await delay(drainMs);
    }
    await stop();
  };
  return (exitCode, drainSeconds = 0) => {
    if (isStopping) process.exit(1);
    isStopping = true;
    const drainMs = drainSeconds * 1000;
    setTimeout(() => process.exit(1), drainMs + STOP_MS).unref();
    run(drainMs).then(
      () => process.exit(exitCode),
      (err: unknown) => {
        log.error({ err }, "the stop failed");
        process.exit(1);
      },
    );
  };
}

/** One line for errors that the operator can resolve, otherwise the stack. */
function describeStartError(error: unknown): string {
  const { message, code, stack } = error as NodeJS.ErrnoException;
  if (code === "EADDRINUSE") return `${message}. Stop the program that listens there, or set PORT or EDGE_PORT.`;
  const isExplained = [ConfigError, FolderInUse, DatabaseInUse, DatabaseUnavailable].some(
    (kind) => error instanceof kind,
  );
  return isExplained ? message : (stack ?? String(error));
}
