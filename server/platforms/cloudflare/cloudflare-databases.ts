import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { Migration } from "../../../domain/ports/bundler.ts";
import { MigrationFailed, type SqlDatabases } from "../../../domain/ports/sql-databases.ts";
import type { CloudflareClient } from "./cloudflare-client.ts";
import { CloudflareError, isTransient } from "./cloudflare-error.ts";
import { ImportFailed, importStatements } from "./import-statements.ts";
import { NamedDatabases } from "./named-databases.ts";
import type { ResourceNames } from "./resource-names.ts";

const PATH = "d1/database";
const TABLE =
  "CREATE TABLE IF NOT EXISTS d1_migrations(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)";
const applied = z.array(z.object({ results: z.array(z.object({ name: z.string() })) }));
const anything = z.unknown();
/** D1's code for a statement that the database rejected. */
const SQL_ERROR = 7500;
/** The length that Cloudflare documents for one statement. What is longer is imported as a file. */
const MAX_REQUEST_BYTES = 100_000;
const ATTEMPTS = 4;
const PAUSE_MS = 250;

/**
 * D1 databases of the account. Cloudflare chooses their ids, so a database is found by its name, which contains the id that
 * the caller has recorded.
 */
export class CloudflareDatabases implements SqlDatabases {
  readonly #client: CloudflareClient;
  readonly #databases: NamedDatabases;
  readonly #names: ResourceNames;

  constructor(client: CloudflareClient, names: ResourceNames) {
    this.#client = client;
    this.#databases = new NamedDatabases(client);
    this.#names = names;
  }

  async create(databaseId: string): Promise<void> {
    await this.ensure(databaseId);
  }

  /** Returns Cloudflare's id of a database, which is created if it does not exist. */
  async ensure(databaseId: string): Promise<string> {
    return this.#databases.ensure(this.#names.database(checkId(databaseId)));
  }

  async migrate(databaseId: string, migrations: readonly Migration[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (migrations.length === 0) return;
    const uuid = await this.ensure(databaseId);
    await this.#query(uuid, { sql: TABLE }, { signal });
    const done = await this.#applied(uuid, signal);
    for (const migration of migrations) if (!done.has(migration.name)) await this.#apply(uuid, migration, signal);
  }

  /** A migration and its entry in the table are one transaction. A repetition would fail, so the table says whether it was applied. */
  async #apply(uuid: string, { name, statements }: Migration, signal: AbortSignal): Promise<void> {
    const run = this.#runner(
      uuid,
      name,
      statements.filter((sql) => sql.trim() !== ""),
    );
    for (let attempt = 1; ; attempt++) {
      try {
        await run(signal);
        return;
      } catch (error) {
        const isRejected = error instanceof CloudflareError && error.hasCode(SQL_ERROR);
        const isImport = error instanceof ImportFailed;
        if (!isRejected && !isImport && !isTransient(error)) throw error;
        // The import of another attempt may have ended before this one.
        if (!isRejected && (await this.#applied(uuid, signal)).has(name)) return;
        if (isRejected) throw toMigrationFailed(name, error.errors.map(({ message }) => message).join(" "), error);
        if (isImport) throw toMigrationFailed(name, error.message, error);
        if (attempt >= ATTEMPTS) throw error;
        await sleep(PAUSE_MS * attempt, null, { signal });
      }
    }
  }

  /** How a migration and its entry in the table are applied: in one request, or as a file if they are too long for it. */
  #runner(uuid: string, name: string, statements: readonly string[]): (signal: AbortSignal) => Promise<unknown> {
    const bytes = statements.reduce((sum, sql) => sum + Buffer.byteLength(sql), 0);
    if (bytes > MAX_REQUEST_BYTES) {
      const entry = `INSERT INTO d1_migrations (name) VALUES ('${name.replaceAll("'", "''")}')`;
      // A statement can end with a comment.
      const sql = [...statements, entry].map((each) => `${each}\n;\n`).join("");
      return (signal) => importStatements(this.#client, { uuid, sql, signal });
    }
    const entry = { sql: "INSERT INTO d1_migrations (name) VALUES (?)", params: [name] };
    const batch = [...statements.map((sql) => ({ sql })), entry];
    return (signal) => this.#query(uuid, { batch }, { signal, isRepeatable: false });
  }

  async #applied(uuid: string, signal: AbortSignal): Promise<Set<string>> {
    const response = await this.#query(uuid, { sql: "SELECT name FROM d1_migrations ORDER BY id" }, { signal });
    return new Set(applied.parse(response).flatMap(({ results }) => results.map(({ name }) => name)));
  }

  #query(uuid: string, body: object, options: { signal: AbortSignal; isRepeatable?: boolean }): Promise<unknown> {
    const request = { operation: "run statements", method: "POST", path: `${PATH}/${uuid}/query`, body } as const;
    return this.#client.call({ ...request, ...options }, anything);
  }

  async remove(databaseId: string): Promise<void> {
    await this.#databases.remove(this.#names.database(checkId(databaseId)));
  }

  async list(): Promise<string[]> {
    const prefix = this.#names.databasePrefix;
    return (await this.#databases.list(prefix)).map((name) => name.slice(prefix.length));
  }
}

function checkId(databaseId: string): string {
  if (/^[a-z0-9][a-z0-9-]{0,40}$/.test(databaseId)) return databaseId;
  throw new TypeError(`Invalid database id: ${JSON.stringify(databaseId)}`);
}

const MAX_REASON_LENGTH = 500;

function toMigrationFailed(name: string, text: string, cause: Error): MigrationFailed {
  const reason = text.replace(/^(D1_\w+: )+/, "").replace(/: SQLITE_\w+( \(.{0,500}\))?$/, "");
  return new MigrationFailed(`Migration "${name}" failed: ${reason.slice(0, MAX_REASON_LENGTH)}`, { cause });
}
