import type { Readable } from "node:stream";
import pg from "pg";
import { to as copyTo } from "pg-copy-streams";
import { ServiceError } from "../../../../../domain/shared/errors.ts";
import type { DatabaseLogin } from "../database-login.ts";
import { pgDump } from "./pg-dump.ts";
import { type DumpFile, NEUTRAL_ROLE } from "./dump-file.ts";
import { type DumpedTable, findProblems, listTables } from "./dumped-tables.ts";

/** The settings that decide how values are written. */
const SETTINGS = [
  ...["search_path=pg_catalog", "datestyle=ISO", "intervalstyle=postgres", "extra_float_digits=3", "bytea_output=hex"],
  ...["client_encoding=UTF8", "row_security=off", "lock_timeout=10000"],
];
const KEEP_ALIVE_MS = 15_000;
const TRIES = 5;
const LOCKED_AT_ONCE = 500;

/**
 * Dumps a database as it is at one moment, while the app uses it.
 *
 * @throws {ServiceError} `conflict` for a database that has what cannot be exported, or whose tables are locked
 */
export async function* exportDatabase(reader: DatabaseLogin, signal: AbortSignal): AsyncGenerator<DumpFile> {
  const client = new pg.Client({
    connectionString: reader.url,
    options: SETTINGS.map((setting) => `-c ${setting}`).join(" "),
  });
  client.on("error", () => undefined);
  const { processID: pid } = await client.connect().then(() => client as unknown as { processID: number });
  const abort = () => void reader.terminate(pid).catch(() => undefined);
  signal.addEventListener("abort", abort);
  try {
    yield* dump(client, reader, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw explain(error);
  } finally {
    signal.removeEventListener("abort", abort);
    await client.end().catch(() => undefined);
  }
}

async function* dump(client: pg.Client, reader: DatabaseLogin, signal: AbortSignal): AsyncGenerator<DumpFile> {
  const tables = await begin(client);
  const [problem] = await findProblems(client, reader.name);
  if (problem !== undefined)
    throw new ServiceError("conflict", `The app's database has ${problem}, which cannot be exported.`);
  const { rows } = await client.query<{ snapshot: string }>("select pg_export_snapshot() as snapshot");
  const snapshot = rows[0]?.snapshot ?? "";
  const run = async (...args: string[]) => {
    const text = await pgDump(reader, { args, snapshot, signal });
    return text.replaceAll(reader.name, NEUTRAL_ROLE);
  };
  // A transaction that is idle too long is ended.
  const keepAlive = setInterval(() => void client.query("select 1").catch(() => undefined), KEEP_ALIVE_MS);
  let schema, sequences, constraints;
  try {
    schema = await run("--section=pre-data");
    sequences = await run("--section=data", "--schema-only", "--sequence-data");
    // Materialized views are filled as the app would do it.
    constraints = await run("--section=post-data", "--enable-row-security");
  } finally {
    clearInterval(keepAlive);
  }
  yield { name: "0-schema.sql", content: chunks(schema) };
  let index = 0;
  for (const table of tables) {
    const content = await rowsOf(client, table);
    if (content !== null) yield { name: `1-rows-${String(index++).padStart(6, "0")}.sql`, content };
  }
  yield { name: "2-constraints.sql", content: chunks(sequences, constraints) };
  await client.query("commit");
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
