import type { Socket } from "node:net";
import type pg from "pg";
import type { PostgresServer } from "../../../ports/postgres.ts";

/** How to connect to the database of an app. */
export interface DatabaseLogin {
  /** The name of the database and of the app's role. */
  name: string;
  /** A connection string of a role that can connect to this database only. */
  url: string;
  /** Ends a connection of this role, whatever it is doing. */
  terminate(pid: number): Promise<void>;
}

export function loginTo(
  { pool, server }: { pool: pg.Pool; server: PostgresServer },
  name: string,
  { role, password }: { role: string; password: string },
): DatabaseLogin {
  const url = new URL(server.url);
  Object.assign(url, { pathname: `/${name}`, username: role, password });
  // The pid may belong to another connection meanwhile.
  const end = "select pg_terminate_backend(pid) from pg_stat_activity where pid = $1 and usename = $2";
  return { name, url: url.href, terminate: async (pid) => void (await pool.query(end, [pid, role])) };
}

/** What `pg` has and does not declare. */
interface Internals {
  processID: number | null;
  connection: { stream: Socket };
}

export function streamOf(client: pg.Client): Socket {
  return (client as unknown as Internals).connection.stream;
}

/** Ends a connection, and the statement that it runs: closing it would not end that. */
export function endConnection(client: pg.Client, { terminate }: DatabaseLogin, error?: Error): void {
  const { processID: pid } = client as unknown as Internals;
  streamOf(client).destroy(error);
  if (pid !== null) terminate(pid).catch(() => undefined);
}
