import { fileURLToPath } from "node:url";
import type { Options } from "@mikro-orm/core";
import { MikroORM } from "@mikro-orm/postgresql";
import type { AbstractSqlDriver, BasePostgreSqlEntityManager, SqlMikroORM } from "@mikro-orm/sql";
import type { Pool, PoolClient } from "pg";
import { NO_CONNECTION } from "../../domain/shared/database-outage.ts";
import { entities } from "./entities.ts";

export type Em = BasePostgreSqlEntityManager;
export type Orm = SqlMikroORM<AbstractSqlDriver, Em>;

export const MIGRATIONS_FOLDER = fileURLToPath(new URL("./migrations", import.meta.url));

/** How long a call waits for a free connection, in milliseconds. */
const CONNECTION_MS = 10_000;

/** The pool's error when all connections are in use for too long. It does not mean that the server is unavailable. */
const ALL_IN_USE = "timeout exceeded when trying to connect";

/** Connects to the database at `url` when the first statement needs it. */
export function openOrm(url: string): Orm {
  // The constructor, because `MikroORM.init` also looks for extensions that the service does not use.
  return new MikroORM({
    entities: [...entities],
    clientUrl: url,
    ensureDatabase: false,
    forceUtcTimezone: true,
    pool: { max: 10 },
    // With these limits, a call fails with an error instead of waiting forever for a lost connection.
    driverOptions: { connectionTimeoutMillis: CONNECTION_MS, keepAlive: true, onPoolCreated: markOutages },
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

/**
 * Marks the errors of failed connections with `NO_CONNECTION`: a code such as `ECONNREFUSED` could come from another
 * server.
 */
function markOutages(pool: Pool): void {
  const connect = pool.connect.bind(pool) as () => Promise<PoolClient>;
  const connectOrMark = async (): Promise<PoolClient> => {
    try {
      return await connect();
    } catch (error) {
      const { message } = error as Error;
      throw message === ALL_IN_USE
        ? error
        : Object.assign(new Error(message, { cause: error }), { code: NO_CONNECTION });
    }
  };
  pool.connect = connectOrMark as Pool["connect"];
}
