import type { Db } from "../../domain/database-types.ts";
import { queryBuilderOf } from "../../domain/database-types.ts";
import type { Config } from "../config.ts";
import { openDatabase } from "../database/open-database.ts";
import type { Orm } from "../database/orm.ts";
import type { ReadinessCheck } from "../http/health.ts";

export interface DatabaseServices {
  orm: Orm;
  em: Orm["em"];
  /** Plain queries, for hot reads. */
  db: Db;
  /** Whether this process is the only one that uses the database. */
  exclusive: boolean;
  readiness: ReadinessCheck;
}

/** Opens the database with every migration applied. */
export async function openDatabaseServices(config: Config, opening: AsyncDisposableStack): Promise<DatabaseServices> {
  const { orm, exclusive } = opening.use(await openDatabase(config));
  const { em } = orm;
  const check = async (): Promise<void> => void (await em.fork().execute("select 1"));
  return { orm, em, db: queryBuilderOf(em.fork()), exclusive, readiness: { name: "database", check } };
}
