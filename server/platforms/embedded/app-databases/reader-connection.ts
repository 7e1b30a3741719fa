import pg from "pg";
import { type DatabaseLogin, endConnection, streamOf } from "../postgres/database-login.ts";
import { toJsonValue } from "./postgres-value.ts";

/** PostgreSQL sends whole rows, and a value can have 1 GiB. */
const MAX_READ_BYTES = 64 * 1024 * 1024;
const CHECK_MS = 20;
/** Beyond the time of the statement: it may have changed the limit of PostgreSQL. */
const GRACE_MS = 1000;

/** How long a statement waits for a table that the app is changing. */
const LOCK_MS = 2000;

interface ReaderConnectionOptions {
  /** `null` for that of the database. */
  searchPath: string | null;
  /** How long each statement, and all together, may run. */
  timeoutMs: number;
  signal: AbortSignal;
}

/** One connection that reads a database of an app. It is ended when it takes too long or receives too much. */
export class ReaderConnection {
  readonly client: pg.Client;
  readonly #reader: DatabaseLogin;
  readonly #check: NodeJS.Timeout;
  readonly #signal: AbortSignal;
  /** Which limit has ended the connection. */
  endedBy: "time" | "size" | null = null;

  constructor(reader: DatabaseLogin, { searchPath, timeoutMs, signal }: ReaderConnectionOptions) {
    const settings = [`statement_timeout=${timeoutMs}`, `lock_timeout=${LOCK_MS}`];
    if (searchPath !== null) settings.push(`search_path=${searchPath}`);
    this.#reader = reader;
    this.#signal = signal;
    this.client = new pg.Client({
      connectionString: reader.url,
      options: settings.map((setting) => `-c ${setting}`).join(" "),
      connectionTimeoutMillis: timeoutMs,
      types: { getTypeParser: (type: number) => (value: string) => toJsonValue(type, value) },
    });
    this.client.on("error", () => undefined);
    const deadline = Date.now() + timeoutMs + GRACE_MS;
    this.#check = setInterval(() => {
      if (Date.now() > deadline) this.#end("time");
      else if (this.bytesRead() > MAX_READ_BYTES) this.#end("size");
    }, CHECK_MS);
  }

  async open(): Promise<void> {
    await this.client.connect();
    this.#signal.addEventListener("abort", this.#abort);
  }

  /** How many bytes were received. */
  bytesRead = (): number => streamOf(this.client).bytesRead;

  async close(): Promise<void> {
    clearInterval(this.#check);
    this.#signal.removeEventListener("abort", this.#abort);
    await this.client.end().catch(() => undefined);
  }

  readonly #abort = (): void => this.#end(null);

  #end(reason: "time" | "size" | null): void {
    clearInterval(this.#check);
    this.endedBy = reason;
    endConnection(this.client, this.#reader, new Error("The connection exceeded a limit"));
  }
}
