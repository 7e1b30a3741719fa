import type { Db } from "../../domain/database-types.ts";
import { queryBuilderOf } from "../../domain/database-types.ts";
import type { Config } from "../config.ts";
import { openDatabase } from "../database/open-database.ts";
import type { Orm } from "../database/orm.ts";
import type { ReadinessCheck } from "../http/health.ts";
import type { Logger } from "../telemetry/logger.ts";

export interface DatabaseServices {
  orm: Orm;
  em: Orm["em"];
  /** Plain queries, for hot reads. */
  db: Db;
  /** A connection string for connections beside the ORM's. */
  url: string;
  /** Whether this process has started the server, so every job and lease in it belongs to an earlier process. */
  isEmbedded: boolean;
  readiness: ReadinessCheck;
}

/** Opens the database with every migration applied. */
export async function openDatabaseServices(
  config: Config,
  log: Logger,
  opening: AsyncDisposableStack,
): Promise<DatabaseServices> {
  const { orm, url, isEmbedded } = opening.use(await openDatabase(config, log));
  const { em } = orm;
  const check = async (): Promise<void> => void (await em.fork().execute("select 1"));
  return { orm, em, db: queryBuilderOf(em.fork()), url, isEmbedded, readiness: { name: "database", check } };
}
