import { readConfig, ConfigError } from "./config.ts";
import { FolderInUse } from "./files/folder-lock.ts";
import { DatabaseUnavailable } from "./database/database-unavailable.ts";
import { closeInheritedDescriptors } from "./startup/inherited-descriptors.ts";
import { createLogger } from "./telemetry/logger.ts";
import { startService } from "./composition/start-service.ts";
import { welcome } from "./startup/startup-message.ts";

/** The bound on a stop, in milliseconds; what is not finished then is taken up at the next start. */
const STOP_MS = 30_000;

async function main(): Promise<void> {
  closeInheritedDescriptors();
  const config = readConfig();
  const log = createLogger(config.logLevel);
  const starting = startService(config, log);
  let stopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(1);
    stopping = true;
    log.info({ signal }, "stopping");
    setTimeout(() => process.exit(1), STOP_MS).unref();
    starting
      .then((service) => service.stop())
      .then(
        () => process.exit(0),
        (err: unknown) => {
          log.error({ err }, "the stop failed");
          process.exit(1);
        },
      );
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  process.on("unhandledRejection", (err) => log.error({ err }, "a promise was rejected and nobody waited for it"));
  process.stdout.write(welcome(await starting, config));
}

try {
  await main();
} catch (error) {
  // What the operator can mend is told in a line; anything else is shown whole.
  process.stderr.write(`${explained(error)}\n`);
  process.exit(1);
}

function explained(error: unknown): string {
  const known = [ConfigError, FolderInUse, DatabaseUnavailable].some((kind) => error instanceof kind);
  const { message, code, stack } = error as NodeJS.ErrnoException;
  if (code === "EADDRINUSE") return `${message}. Stop what listens there, or set PORT or EDGE_PORT.`;
  return known ? message : (stack ?? String(error));
}
