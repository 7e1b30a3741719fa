import { randomBytes } from "node:crypto";
import pg from "pg";

const SERVER = process.env["TEST_DATABASE_URL"] ?? "postgres://postgres@127.0.0.1:5432/postgres";

export interface ScratchDatabase extends AsyncDisposable {
  url: string;
  /** The version of the server, such as `15.20`. */
  version: string;
}

/**
 * Creates an empty database on the Postgres server at `TEST_DATABASE_URL`. It is dropped on disposal.
 *
 * @throws when the server does not respond
 */
export async function createScratchDatabase(): Promise<ScratchDatabase> {
  const name = `bench_${randomBytes(8).toString("hex")}`;
  await runStatement(`create database ${name}`);
  const [row] = await runStatement("show server_version");
  const url = new URL(SERVER);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    version: String(row?.["server_version"]).split(" ", 1)[0] ?? "",
    [Symbol.asyncDispose]: async () => void (await runStatement(`drop database if exists ${name} with (force)`)),
  };
}

async function runStatement(statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: SERVER });
  await client.connect().catch((cause: unknown) => {
    const message = "Postgres does not respond. Start a server, or set TEST_DATABASE_URL to the URL of one.";
    throw new Error(message, { cause });
  });
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}
