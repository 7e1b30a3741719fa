import { EmbeddedPostgres } from "../../../server/database/embedded/embedded-postgres.ts";
import { createLogger } from "../../../server/telemetry/logger.ts";

// A separate process that a test can kill. Starts an embedded PostgreSQL in the given folder and prints its address.
const [folder = ""] = process.argv.slice(2);
try {
  const server = await EmbeddedPostgres.start(folder, createLogger("silent"));
  process.stdout.write(`${server.url}\n`);
  // Keeps the process alive until it is killed.
  setInterval(() => undefined, 60_000);
} catch (error) {
  process.stdout.write(`${(error as Error).message}\n`);
}
