import { fileURLToPath } from "node:url";
import type { Options } from "@mikro-orm/core";
import { MikroORM } from "@mikro-orm/postgresql";
import type { AbstractSqlDriver, BasePostgreSqlEntityManager, SqlMikroORM } from "@mikro-orm/sql";
import type { Pool } from "pg";
import { CONNECTION_MS, ConnectionPool } from "./connection-pool.ts";
import { entities } from "./entities.ts";

export type Em = BasePostgreSqlEntityManager;
export type Orm = SqlMikroORM<AbstractSqlDriver, Em>;

export const MIGRATIONS_FOLDER = fileURLToPath(new URL("./migrations", import.meta.url));

export const DEFAULT_POOL_SIZE = 10;

/**
 * Connects to the database at `url` when the first statement needs it.
 *
 * @param connections - shares the connections; by default `DEFAULT_POOL_SIZE` of them
 */
export function openOrm(url: string, connections = new ConnectionPool(DEFAULT_POOL_SIZE)): Orm {
  // The constructor, because `MikroORM.init` also looks for extensions that the service does not use.
  return new MikroORM({
    entities: [...entities],
    clientUrl: url,
    ensureDatabase: false,
    forceUtcTimezone: true,
    pool: { max: connections.size },
    // With these limits, a call fails with an error instead of waiting forever for a lost connection.
    driverOptions: {
      connectionTimeoutMillis: CONNECTION_MS,
      keepAlive: true,
      onPoolCreated: (pool: Pool) => connections.attach(pool),
    },
    // `jobs` belongs to pg-boss and `auth` to better-auth; a schema diff would otherwise drop their tables. It would also
    // drop the functions, which only migrations define.
    schemaGenerator: { ignoreSchema: ["jobs", "auth"], ignoreRoutines: true },
    migrations: {
      path: MIGRATIONS_FOLDER,
      snapshot: false,
      silent: true,
    },
  } satisfies Partial<Options> as never);
}
