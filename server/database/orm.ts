import { fileURLToPath } from "node:url";
import type { Options } from "@mikro-orm/core";
import { Migrator } from "@mikro-orm/migrations";
import { MikroORM as PgliteOrm } from "@mikro-orm/pglite";
import { MikroORM as PostgresOrm } from "@mikro-orm/postgresql";
import type { AbstractSqlDriver, BasePostgreSqlEntityManager, SqlMikroORM } from "@mikro-orm/sql";
import { entities } from "./entities.ts";

export type Em = BasePostgreSqlEntityManager;
export type Orm = SqlMikroORM<AbstractSqlDriver, Em>;

const shared = {
  entities: [...entities],
  extensions: [Migrator],
  ensureDatabase: false,
  forceUtcTimezone: true,
  // `jobs` belongs to pg-boss and `auth` to better-auth; a schema diff would otherwise drop its tables.
  schemaGenerator: { ignoreSchema: ["jobs", "auth"] },
  migrations: {
    path: fileURLToPath(new URL("./migrations", import.meta.url)),
    snapshot: false,
    silent: true,
  },
} satisfies Partial<Options>;

/** How long a call waits for a free connection, in milliseconds. */
const CONNECTION_MS = 10_000;

/** Where the data lives: a Postgres server, or a folder of the embedded PGlite (one process at a time). */
export type DatabaseLocation = { kind: "postgres"; url: string } | { kind: "embedded"; directory: string };

export async function openOrm(location: DatabaseLocation): Promise<Orm> {
  if (location.kind === "postgres")
    return await PostgresOrm.init({
      ...shared,
      clientUrl: location.url,
      pool: { max: 10 },
      // A call fails, and says so, rather than wait without end for a connection that a lost network keeps.
      driverOptions: { connectionTimeoutMillis: CONNECTION_MS, keepAlive: true },
    } as never);
  return await PgliteOrm.init({ ...shared, dbName: location.directory } as never);
}
