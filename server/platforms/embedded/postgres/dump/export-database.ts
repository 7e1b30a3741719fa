import type { Readable } from "node:stream";
import type pg from "pg";
import { to as copyTo } from "pg-copy-streams";
import { ServiceError } from "../../../../../domain/shared/errors.ts";
import type { DatabaseLogin } from "../database-login.ts";
import { DumpConnection } from "./dump-connection.ts";
import { pgDump } from "./pg-dump.ts";
import { type DumpFile, NEUTRAL_ROLE } from "./dump-file.ts";
import { type DumpedTable, findProblems, listTables } from "./dumped-tables.ts";

/** The settings that decide how values are written. */
const SETTINGS = [
  ...["search_path=pg_catalog", "datestyle=ISO", "intervalstyle=postgres", "extra_float_digits=3", "bytea_output=hex"],
  ...["client_encoding=UTF8", "row_security=off", "lock_timeout=10000"],
];
const TRIES = 5;
const LOCKED_AT_ONCE = 500;

/**
 * Dumps a database as it is at one moment, while the app uses it.
 *
 * @throws {ServiceError} `conflict` for a database that has what cannot be exported, or whose tables are locked
 */
export async function* exportDatabase(reader: DatabaseLogin, signal: AbortSignal): AsyncGenerator<DumpFile> {
  await using connection = await DumpConnection.open(reader, SETTINGS, signal);
  try {
    yield* dump(connection, reader.name, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw explain(error);
  }
}

async function* dump(connection: DumpConnection, role: string, signal: AbortSignal): AsyncGenerator<DumpFile> {
  const { client } = connection;
  const tables = await begin(client);
  const [problem] = await findProblems(client, role);
  if (problem !== undefined)
    throw new ServiceError("conflict", `The app's database has ${problem}, which cannot be exported.`);
  const run = async (...args: string[]) => (await pgDump(connection, args, signal)).replaceAll(role, NEUTRAL_ROLE);
  const schema = await run("--section=pre-data");
  const sequences = await run("--section=data", "--schema-only", "--sequence-data");
  // Materialized views are filled as the app would do it.
  const constraints = await run("--section=post-data", "--enable-row-security");
  await client.query("set row_security = off");
  yield { name: "0-schema.sql", content: chunks(schema) };
  let index = 0;
  for (const table of tables) {
    const content = await rowsOf(client, table);
    if (content !== null) yield { name: `1-rows-${String(index++).padStart(6, "0")}.sql`, content };
  }
  yield { name: "2-constraints.sql", content: chunks(sequences, constraints) };
}

/** Begins the transaction. The tables are locked before it sees them: a table that is truncated or rewritten would appear empty. */
async function begin(client: pg.Client): Promise<DumpedTable[]> {
  for (let tries = 1; tries <= TRIES; tries++) {
    const before = await listTables(client);
    await client.query("begin transaction isolation level repeatable read, read only");
    try {
      for (let at = 0; at < before.length; at += LOCKED_AT_ONCE) {
        const names = before.slice(at, at + LOCKED_AT_ONCE).map(({ name }) => `only ${name}`);
        await client.query(`lock table ${names.join(", ")} in access share mode`);
      }
      const tables = await listTables(client);
      if (JSON.stringify(tables) === JSON.stringify(before)) return tables;
    } catch (error) {
      if (!isDropped(error)) throw error;
    }
    await client.query("rollback");
  }
  throw new ServiceError("conflict", "The tables of the app's database change all the time. Export it later.");
}

/** Returns `null` for a table without rows. */
async function rowsOf(
  client: pg.Client,
  { name, target, columns }: DumpedTable,
): Promise<AsyncIterable<Uint8Array> | null> {
  const { rowCount } = await client.query(`select from only ${name} limit 1`);
  if (rowCount === 0) return null;
  const stream = client.query(copyTo(`copy ${name}${columns} to stdout`));
  return copyBlock(`COPY ${target}${columns} FROM stdin;\n`, stream);
}

async function* copyBlock(first: string, rows: Readable): AsyncGenerator<Uint8Array> {
  yield Buffer.from(first);
  for await (const chunk of rows) yield chunk as Uint8Array;
  yield Buffer.from("\\.\n");
}

async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

function isDropped(error: unknown): boolean {
  return ["42P01", "3F000"].includes((error as { code?: string }).code ?? "");
}

function explain(error: unknown): unknown {
  if ((error as { code?: string }).code !== "55P03") return error;
  return new ServiceError("conflict", "A table of the app's database is locked. Export the app later.");
}
