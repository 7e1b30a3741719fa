import { pipeline } from "node:stream/promises";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { ServiceError } from "../../../../../domain/shared/errors.ts";
import { type DatabaseLogin, endConnection, streamOf } from "../database-login.ts";
import { type DumpFile, MAX_SCRIPT_BYTES, NEUTRAL_ROLE } from "./dump-file.ts";
import { splitScript } from "./split-script.ts";

/** What the server may send: rows and notices of a script have no use. */
const MAX_RECEIVED_BYTES = 8 * 1024 ** 2;
const CHECK_MS = 50;
const MAX_LINE_BYTES = 1024 ** 2;

const IDENTIFIER = String.raw`(?:U&)?"(?:[^"\n]|"")+"`;
const COPY = new RegExp(
  String.raw`^COPY ${IDENTIFIER}\.${IDENTIFIER}(?: \(${IDENTIFIER}(?:, ${IDENTIFIER})*\))? FROM stdin;$`,
);

/**
 * Restores a dump of a stranger into an empty database, as the role of the app, which has no rights outside of it.
 *
 * @param database - how to connect as this role
 * @throws {ServiceError} `invalid` for a dump that PostgreSQL refuses
 */
export async function importDatabase(
  database: DatabaseLogin,
  files: AsyncIterable<DumpFile>,
  signal: AbortSignal,
): Promise<void> {
  const connection = await RestoringConnection.open(database, signal);
  try {
    for await (const { name, content } of files) {
      signal.throwIfAborted();
      if (name.startsWith("1-rows-")) await connection.copy(content);
      else await connection.runScript((await readScript(content)).replaceAll(NEUTRAL_ROLE, database.name));
    }
  } catch (error) {
    signal.throwIfAborted();
    throw connection.explain(error);
  } finally {
    await connection.close();
  }
}

/** One connection that restores a database. It is ended when it receives too much. */
class RestoringConnection {
  readonly #client: pg.Client;
  readonly #database: DatabaseLogin;
  readonly #signal: AbortSignal;
  readonly #check: NodeJS.Timeout;
  #hasReceivedTooMuch = false;

  private constructor(database: DatabaseLogin, signal: AbortSignal) {
    this.#database = database;
    this.#signal = signal;
    this.#client = new pg.Client({ connectionString: database.url });
    this.#client.on("error", () => undefined);
    this.#check = setInterval(() => {
      if (streamOf(this.#client).bytesRead <= MAX_RECEIVED_BYTES) return;
      this.#hasReceivedTooMuch = true;
      this.#end();
    }, CHECK_MS);
    signal.addEventListener("abort", this.#end);
  }

  static async open(database: DatabaseLogin, signal: AbortSignal): Promise<RestoringConnection> {
    const opened = new RestoringConnection(database, signal);
    try {
      await opened.#client.connect();
      return opened;
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  async runScript(script: string): Promise<void> {
    for (const part of splitScript(script)) {
      this.#signal.throwIfAborted();
      await this.#run(part);
    }
  }

  /** Runs statements. What they return is discarded. */
  async #run(sql: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const query = this.#client.query(new pg.Query(sql));
      query.on("row", () => undefined);
      query.on("error", reject);
      query.on("end", () => resolve());
    });
  }

  /** Restores the rows of a table. The first line is the statement. */
  async copy(content: AsyncIterable<Uint8Array>): Promise<void> {
    const rows = content[Symbol.asyncIterator]();
    let head = Buffer.alloc(0);
    let end = -1;
    while (end === -1 && head.length < MAX_LINE_BYTES) {
      const { value, done } = await rows.next();
      if (done === true) break;
      head = Buffer.concat([head, value]);
      end = head.indexOf("\n");
    }
    const statement = head.subarray(0, Math.max(0, end)).toString("utf8");
    if (!COPY.test(statement)) throw new ServiceError("invalid", "file: the rows of a table do not begin with COPY.");
    async function* rest(): AsyncGenerator<Uint8Array> {
      yield head.subarray(end + 1);
      // A buffer may be used again for the next chunk.
      for (let next = await rows.next(); next.done !== true; next = await rows.next())
        yield Uint8Array.from(next.value);
    }
    await pipeline(rest(), this.#client.query(copyFrom(statement)));
  }

  explain(error: unknown): unknown {
    if (this.#hasReceivedTooMuch)
      return new ServiceError("invalid", "file: the database returns too much while it is restored.");
    if (!(error instanceof pg.DatabaseError)) return error;
    const { code = "", message, where = "" } = error;
    const place = where === "" ? "" : ` (${where.slice(0, MAX_MESSAGE)})`;
    if (code === ENDED)
      return new ServiceError("invalid", "file: the connection that restores the database was ended.");
    return new ServiceError(
      "invalid",
      `file: PostgreSQL refuses the database: ${message.slice(0, MAX_MESSAGE)}${place}.`,
    );
  }

  async close(): Promise<void> {
    clearInterval(this.#check);
    this.#signal.removeEventListener("abort", this.#end);
    await this.#client.end().catch(() => undefined);
  }

  readonly #end = (): void => {
    clearInterval(this.#check);
    endConnection(this.#client, this.#database, new Error("The connection was ended"));
  };
}

const MAX_MESSAGE = 500;
/** `admin_shutdown`, which is also the result of `pg_terminate_backend`. */
const ENDED = "57P01";

async function readScript(content: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > MAX_SCRIPT_BYTES) throw new ServiceError("invalid", "file: the schema of the database is too large.");
    chunks.push(Uint8Array.from(chunk));
  }
  return Buffer.concat(chunks).toString("utf8");
}
