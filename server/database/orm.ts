import { fileURLToPath } from "node:url";
import type { Options } from "@mikro-orm/core";
import { Migrator } from "@mikro-orm/migrations";
import { MikroORM } from "@mikro-orm/postgresql";
import type { AbstractSqlDriver, BasePostgreSqlEntityManager, SqlMikroORM } from "@mikro-orm/sql";
import { entities } from "./entities.ts";

export type Em = BasePostgreSqlEntityManager;
export type Orm = SqlMikroORM<AbstractSqlDriver, Em>;

/** How long a call waits for a free connection, in milliseconds. */
const CONNECTION_MS = 10_000;

/** Connects to the database at `url` when the first statement needs it. */
export async function openOrm(url: string): Promise<Orm> {
  return await MikroORM.init({
    entities: [...entities],
    extensions: [Migrator],
    clientUrl: url,
    ensureDatabase: false,
    forceUtcTimezone: true,
    pool: { max: 10 },
    // A call fails with an error instead of waiting without end for a connection that a lost network keeps.
    driverOptions: { connectionTimeoutMillis: CONNECTION_MS, keepAlive: true },
    // `jobs` belongs to pg-boss and `auth` to better-auth; a schema diff would otherwise drop their tables.
    schemaGenerator: { ignoreSchema: ["jobs", "auth"] },
    migrations: {
      path: fileURLToPath(new URL("./migrations", import.meta.url)),
      snapshot: false,
      silent: true,
    },
  } satisfies Partial<Options> as never);
}
