import type { PgBoss } from "pg-boss";
import { type Db, queryBuilderOf } from "../../domain/database-types.ts";
import type { JobQueue } from "../../domain/ports/job-queue.ts";
import type { Config } from "../config.ts";
import type { ConnectionPool } from "../database/connection-pool.ts";
import { DatabaseLock, type DatabaseLockOptions } from "../database/database-lock.ts";
import type { EmbeddedPostgres } from "../database/embedded/embedded-postgres.ts";
import { openDatabase } from "../database/open-database.ts";
import type { Orm } from "../database/orm.ts";
import { PoolWatchdog } from "../database/pool-watchdog.ts";
import { openBoss, PgBossQueue } from "../drivers/job-queue/pg-boss-queue.ts";
import type { ReadinessCheck } from "../http/health.ts";
import type { Logger } from "../telemetry/logger.ts";
import { requeueActiveJobs } from "../worker/requeue-active-jobs.ts";

export interface DatabaseServices {
  orm: Orm;
  em: Orm["em"];
  /** Plain queries, for hot reads. */
  db: Db;
  /** A connection string for connections beside the ORM's. */
  url: string;
  /** Whether this process has started the server, so every job and lease in it belongs to an earlier process. */
  isEmbedded: boolean;
  /** How many connections of the ORM are open, in use, and waited for. */
  connections: ConnectionPool;
  readiness: ReadinessCheck;
}

const WAITING = "another process of this service uses the database: waiting up to 12 seconds for its end";

export interface DatabaseDeps {
  /** Called when another process has taken the database from this one; `null` to share the database. */
  onDatabaseTaken: DatabaseLockOptions["onTaken"] | null;
  /** The embedded PostgreSQL, if its start has begun already. */
  embeddedDatabase?: Promise<EmbeddedPostgres> | undefined;
}

/** Opens the database with every migration applied. */
export async function openDatabaseServices(
  config: Config,
  log: Logger,
  { onDatabaseTaken: onTaken, embeddedDatabase }: DatabaseDeps,
  opening: AsyncDisposableStack,
): Promise<DatabaseServices> {
  // Before the migrations, which the other process may not understand. The embedded database locks its folder.
  if (config.databaseUrl !== null && onTaken !== null)
    opening.use(
      await DatabaseLock.acquire({
        url: config.databaseUrl,
        isShared: config.edgeCluster !== null,
        onTaken,
        onWait: () => log.warn(WAITING),
      }),
    );
  const { orm, connections, url, isEmbedded } = opening.use(await openDatabase(config, log, embeddedDatabase));
  opening.use(new PoolWatchdog({ orm, connections, url }, log));
  const { em } = orm;
  const check = async (): Promise<void> => void (await em.fork().execute("select 1"));
  return {
    orm,
    em,
    db: queryBuilderOf(em.fork()),
    url,
    isEmbedded,
    connections,
    readiness: { name: "database", check },
  };
}

export interface JobQueueServices {
  boss: PgBoss;
  jobs: JobQueue;
  readiness: ReadinessCheck;
}

/** Opens the job queue, which keeps its jobs in the service's database. */
export async function openJobQueue(
  { orm, url, isEmbedded }: Pick<DatabaseServices, "orm" | "url" | "isEmbedded">,
  log: Logger,
  opening: AsyncDisposableStack,
): Promise<JobQueueServices> {
  const boss = await openBoss(url, log);
  opening.defer(() => boss.stop({ graceful: false, close: true }));
  if (isEmbedded) await requeueActiveJobs(orm, boss);
  const check = async (): Promise<void> => void (await boss.getQueue("deployment"));
  return { boss, jobs: new PgBossQueue(boss), readiness: { name: "queue", check } };
}
