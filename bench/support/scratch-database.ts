import { randomBytes } from "node:crypto";
import pg from "pg";

const SERVER = process.env["TEST_DATABASE_URL"] ?? "postgres://postgres@127.0.0.1:5432/postgres";

export interface ScratchDatabase extends AsyncDisposable {
  url: string;
  /** The server's version, such as `15.20`. */
  version: string;
}

/**
 * An empty database on the Postgres server at `TEST_DATABASE_URL`, dropped when disposed of.
 *
 * @throws with what to do when the server does not answer
 */
export async function scratchDatabase(): Promise<ScratchDatabase> {
  const name = `bench_${randomBytes(8).toString("hex")}`;
  await onServer(`create database ${name}`);
  const [row] = await onServer("show server_version");
  const url = new URL(SERVER);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    version: String(row?.["server_version"]).split(" ", 1)[0] ?? "",
    [Symbol.asyncDispose]: async () => void (await onServer(`drop database if exists ${name} with (force)`)),
  };
}

async function onServer(statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: SERVER });
  await client.connect().catch((cause: unknown) => {
    throw new Error("No Postgres answers; start one, or say in TEST_DATABASE_URL where it is", { cause });
  });
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}
