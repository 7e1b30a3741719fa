import { randomBytes } from "node:crypto";
import { cp } from "node:fs/promises";
import path from "node:path";
import pg from "pg";
import { inject } from "vitest";

/** What a test's service is configured with to use a database of its own. */
export interface TestDatabase extends AsyncDisposable {
  databaseUrl: string | null;
  redisUrl: string | null;
}

const backend = process.env["TEST_BACKEND"] ?? "embedded";

/** A migrated, empty database: on Postgres when the suite runs on services, else embedded in `dataDirectory`. */
export function freshDatabase(dataDirectory: string): Promise<TestDatabase> {
  return backend === "services" ? freshPostgres() : freshEmbedded(dataDirectory);
}

/** The services that the suite runs against, or `null` on the embedded defaults. */
export const SERVICES =
  backend === "services" ? { databaseUrl: required("TEST_DATABASE_URL"), redisUrl: required("TEST_REDIS_URL") } : null;

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set; run the suite through npm test`);
  return value;
}

async function freshEmbedded(dataDirectory: string): Promise<TestDatabase> {
  const folder = path.join("database", "pglite");
  await cp(path.join(inject("embeddedTemplate"), folder), path.join(dataDirectory, folder), { recursive: true });
  return { databaseUrl: null, redisUrl: null, [Symbol.asyncDispose]: () => Promise.resolve() };
}

async function freshPostgres(): Promise<TestDatabase> {
  const admin = required("TEST_DATABASE_URL");
  const name = `test_${randomBytes(8).toString("hex")}`;
  await onServer(admin, `create database ${name}`);
  const url = new URL(admin);
  url.pathname = `/${name}`;
  return {
    databaseUrl: url.href,
    redisUrl: withPrefix(required("TEST_REDIS_URL"), name),
    [Symbol.asyncDispose]: () => onServer(admin, `drop database if exists ${name} with (force)`),
  };
}

/** A part of Redis: all services here have one address, and must not use up each other's limits. */
function withPrefix(redisUrl: string, name: string): string {
  const url = new URL(redisUrl);
  url.searchParams.set("keyPrefix", `${name}:`);
  return url.href;
}

export async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
