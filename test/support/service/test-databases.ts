import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";
import { EmbeddedPostgres } from "../../../server/database/embedded/embedded-postgres.ts";

/** The settings of a service that has its own database. */
export interface TestDatabase extends AsyncDisposable {
  databaseUrl: string;
  redisUrl: string | null;
}

/** The secret of services that use a database of a test. Those that share one can then read what the other encrypts. */
export const TEST_TOKEN_SECRET = "5eC7e7".repeat(8);

/** The PostgreSQL and Redis servers outside the service that this test uses; `null` with the embedded defaults. */
export const SERVICES =
  process.env["TEST_BACKEND"] === "services"
    ? { databaseUrl: required("TEST_DATABASE_URL"), redisUrl: required("TEST_REDIS_URL") }
    : null;

/** The PostgreSQL server of this test: the outside one, or the embedded one that the whole run shares. */
export function postgresServer(): string {
  return SERVICES?.databaseUrl ?? EmbeddedPostgres.connect(inject("postgresFolder")).url;
}

/**
 * Creates a database with all migrations. It is dropped on disposal. Without `fsync`, copying the files takes half the time
 * of logging them.
 */
export function createTestDatabase(): Promise<TestDatabase> {
  const strategy = SERVICES === null ? "file_copy" : "wal_log";
  return createDatabase(`template ${inject("templateDatabase")} strategy ${strategy}`);
}

/** Creates a database without tables. It is dropped on disposal. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return createDatabase("");
}

async function createDatabase(options: string): Promise<TestDatabase> {
  const server = postgresServer();
  const name = `test_${randomBytes(8).toString("hex")}`;
  await executeOnServer(server, `create database ${name} ${options}`);
  return {
    databaseUrl: databaseUrl(server, name),
    redisUrl: SERVICES === null ? null : withPrefix(SERVICES.redisUrl, name),
    [Symbol.asyncDispose]: () => executeOnServer(server, `drop database if exists ${name} with (force)`),
  };
}

/** The connection string of another database on the same server. */
export function databaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** One kept connection to each server, because a new one takes longer than most statements. They end with the process. */
const pools = new Map<string, pg.Pool>();

/** Runs one statement. */
export async function executeOnServer(url: string, statement: string): Promise<void> {
  let pool = pools.get(url);
  if (pool === undefined) {
    pool = new pg.Pool({ connectionString: url, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true });
    // The pool replaces a lost connection.
    pool.on("error", () => undefined);
    pools.set(url, pool);
  }
  await pool.query(statement);
}

/** Adds a key prefix. All tests have the same client address, so without it they would share their rate limits. */
function withPrefix(redisUrl: string, name: string): string {
  const url = new URL(redisUrl);
  url.searchParams.set("keyPrefix", `${name}:`);
  return url.href;
}

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set. Run the tests through npm test.`);
  return value;
}
