import { existsSync } from "node:fs";
import pg from "pg";
import { openJobQueue } from "../composition/database.ts";
import type { Config } from "../config.ts";
import { databaseFolder } from "../database/embedded/embedded-postgres.ts";
import { openDatabase } from "../database/open-database.ts";
import type { Em } from "../database/orm.ts";
import { QUEUE_NAMES } from "../drivers/job-queue/pg-boss-queue.ts";
import { createLogger } from "../telemetry/logger.ts";
import { type CopiedTables, copyTables } from "../database/copy-tables.ts";
import { UsageError } from "./options.ts";

export interface MovedDatabase extends CopiedTables {
  /** Jobs that had not ended. */
  jobs: number;
}

/**
 * Copies the embedded database of the data folder to the empty one at `DATABASE_URL`, while the service is stopped. The embedded one
 * stays as it is. A failure leaves the target empty, so that the command can be repeated.
 *
 * @throws {UsageError} when there is no embedded database, or the target is not empty
 * @throws {FolderInUse} while the service runs
 * @throws {DatabaseUnavailable}
 */
export async function moveDatabase({
  dataDirectory,
  databaseUrl,
}: Pick<Config, "dataDirectory" | "databaseUrl">): Promise<MovedDatabase> {
  if (databaseUrl === null) throw new UsageError("Set DATABASE_URL to the database that is to be filled.");
  if (!existsSync(databaseFolder(dataDirectory)))
    throw new UsageError(`DATA_DIR: ${dataDirectory} has no embedded database.`);
  const log = createLogger("silent");
  await using opening = new AsyncDisposableStack();
  const source = opening.use(await openDatabase({ dataDirectory, databaseUrl: null }, log));
  const target = opening.use(await openDatabase({ dataDirectory, databaseUrl }, log));
  const { jobs: sourceJobs } = await openJobQueue(source, log, opening);
  const queued = await Promise.all(
    QUEUE_NAMES.map(async (queue) => [queue, await sourceJobs.listWaiting(queue)] as const),
  );
  const { jobs: targetJobs } = await openJobQueue(target, log, opening);
  // Not an entity manager of the source: inside the transaction of another one, it would use that one's connection.
  const from = new pg.Client({ connectionString: source.url });
  opening.defer(() => from.end());
  await from.connect();
  await from.query("begin read only");
  return await target.orm.em.fork().transactional(async (to) => {
    await requireEmpty(to);
    const copied = await copyTables(from, to);
    let jobs = 0;
    for (const [queue, waiting] of queued)
      for (const job of waiting) {
        await targetJobs.enqueue(to, queue, job);
        jobs += 1;
      }
    return { ...copied, jobs };
  });
}

/** Another command that fills the target waits until this one has ended. */
async function requireEmpty(to: Em): Promise<void> {
  await to.execute("lock table organizations in exclusive mode");
  const [row] = await to.execute<unknown[]>("select 1 from organizations limit 1");
  if (row !== undefined)
    throw new UsageError("DATABASE_URL: the database has organizations already. Set it to an empty database.");
}
