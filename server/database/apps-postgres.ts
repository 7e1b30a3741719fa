import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { nullIfMissing } from "../files/missing-file.ts";
import type { PostgresServer } from "../ports/postgres.ts";
import { DatabaseUnavailable } from "./database-unavailable.ts";
import { SUPERUSER } from "./embedded/create-cluster.ts";
import { EmbeddedPostgres, type ServerLog } from "./embedded/embedded-postgres.ts";

/** In MiB, of each process, most of which serve one connection each. */
const PROCESS_DATA_MB = 384;

const SETTINGS = {
  max_connections: "200",
  // Of one process. Beyond it, the query fails.
  temp_file_limit: "128MB",
  // Connections that send no password count for the whole server.
  authentication_timeout: "10s",
  superuser_reserved_connections: "10",
  // Of 8 KiB. All apps share the queue of notifications and the table of locks. Both are so large that the watchdog ends the connections
  // of an app before it has filled them. Half of the table, 80 MB, is in memory at all times.
  max_notify_queue_pages: "65536",
  max_locks_per_transaction: "2048",
  // Another table, of the locks of serializable transactions.
  max_pred_locks_per_transaction: "256",
  max_prepared_transactions: "0",
  max_wal_senders: "0",
  // A backup copies the running server, which `minimal` does not permit.
  wal_level: "replica",
} as const;

/** Only with a password. By default, PostgreSQL trusts everyone who reaches its socket, and every app reaches this one. */
const AUTHENTICATION = "# Written by the service at each start.\nlocal all all scram-sha-256\n";

/** The folder of the PostgreSQL server of apps in the service's data folder. */
export function appsDatabaseFolder(dataDirectory: string): string {
  return path.join(dataDirectory, "apps-database");
}

/**
 * Another server for the databases of apps. The role in `url` must be a superuser.
 *
 * @param serviceUrl - the database of the service; `null` for the embedded one
 * @throws {DatabaseUnavailable} when it cannot be used, or is the server of the service
 */
export async function connectToAppsPostgres(url: string, serviceUrl: string | null): Promise<PostgresServer> {
  const { hostname, port } = new URL(url);
  const server = await identify(url).catch((cause: unknown) => {
    throw new DatabaseUnavailable("APPS_DATABASE_URL names a PostgreSQL server that cannot be used", { cause });
  });
  if (serviceUrl !== null && server === (await identify(serviceUrl)))
    throw new DatabaseUnavailable(
      "APPS_DATABASE_URL names the PostgreSQL server of DATABASE_URL. Apps need another server, because one app could use up the connections and the memory of the service.",
    );
  const address = { host: hostname || "127.0.0.1", port: Number(port || 5432) };
  return { url, address, isLocal: false, [Symbol.asyncDispose]: () => Promise.resolve() };
}

/** What two servers never have in common, even if one has a copy of the data of the other. */
function identify(url: string): Promise<string> {
  const select = "select concat(pg_postmaster_start_time(), system_identifier) as id from pg_control_system()";
  return withClient(url, async (client) => (await client.query<{ id: string }>(select)).rows[0]?.id ?? "");
}

/**
 * Starts the PostgreSQL server whose databases belong to apps. It is not the server of the service, so that no app can reach
 * the service's data, or use up its connections.
 *
 * @param folder - created if it does not exist
 * @throws as `EmbeddedPostgres.start`
 */
export async function startAppsPostgres(folder: string, log: ServerLog): Promise<PostgresServer> {
  const password = await readPassword(folder);
  const options = { settings: SETTINGS, password, owner: "apps", dataMb: PROCESS_DATA_MB } as const;
  const server = await EmbeddedPostgres.start(folder, log, options);
  try {
    await requirePasswords(path.join(folder, "data"), server.url, password);
    const stop = () => server[Symbol.asyncDispose]();
    const address = { socketPath: server.socketPath };
    return { url: server.url, address, isLocal: true, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

/** The password of the superuser, which is created before the server. */
export async function readPassword(folder: string): Promise<string> {
  const file = path.join(folder, "password");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const stored = await readFile(file, "utf8").catch(nullIfMissing);
  if (stored !== null && stored !== "") return stored;
  const password = randomBytes(32).toString("base64url");
  await writeFile(file, password, { mode: 0o600, flush: true });
  return password;
}

/** Nothing but the service can connect before this returns. */
async function requirePasswords(data: string, url: string, password: string): Promise<void> {
  const startedAt = await withClient(url, async (client) => {
    await client.query(`alter role ${SUPERUSER} password ${client.escapeLiteral(password)}`);
    await writeFile(path.join(data, "pg_hba.conf"), AUTHENTICATION, { flush: true });
    const { rows } = await client.query<{ now: string }>("select clock_timestamp()::text as now");
    await client.query("select pg_reload_conf()");
    return rows[0]?.now;
  });
  // The server reads its configuration again in the background. A new connection tells when that was.
  while (!(await withClient(url, (client) => isLoadedSince(client, startedAt)))) await sleep(20);
}

async function isLoadedSince(client: pg.Client, time: string | undefined): Promise<boolean> {
  const select = "select pg_conf_load_time() >= $1::timestamptz as is_loaded";
  const { rows } = await client.query<{ is_loaded: boolean }>(select, [time]);
  return rows[0]?.is_loaded === true;
}

async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
