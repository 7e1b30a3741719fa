import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { Migration } from "../../../domain/ports/bundler.ts";
import { MigrationFailed, type SqlDatabases } from "../../../domain/ports/sql-databases.ts";
import type { CloudflareClient } from "./cloudflare-client.ts";
import { CloudflareError, isTransient } from "./cloudflare-error.ts";
import { NamedDatabases } from "./named-databases.ts";
import type { ResourceNames } from "./resource-names.ts";

const PATH = "d1/database";
const TABLE =
  "CREATE TABLE IF NOT EXISTS d1_migrations(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)";
const applied = z.array(z.object({ results: z.array(z.object({ name: z.string() })) }));
const anything = z.unknown();
/** D1's code for a statement that the database rejected. */
const SQL_ERROR = 7500;
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
    const batch = [
      ...statements.filter((sql) => sql.trim() !== "").map((sql) => ({ sql })),
      { sql: "INSERT INTO d1_migrations (name) VALUES (?)", params: [name] },
    ];
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#query(uuid, { batch }, { signal, isRepeatable: false });
        return;
      } catch (error) {
        if (error instanceof CloudflareError && error.hasCode(SQL_ERROR)) throw toMigrationFailed(name, error);
        if (!isTransient(error)) throw error;
        if ((await this.#applied(uuid, signal)).has(name)) return;
        if (attempt >= ATTEMPTS) throw error;
        await sleep(PAUSE_MS * attempt, null, { signal });
      }
    }
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

function toMigrationFailed(name: string, error: CloudflareError): MigrationFailed {
  const text = error.errors.map(({ message }) => message).join(" ");
  const reason = text.replace(/^(D1_\w+: )+/, "").replace(/: SQLITE_\w+( \(.{0,500}\))?$/, "");
  return new MigrationFailed(`Migration "${name}" failed: ${reason.slice(0, MAX_REASON_LENGTH)}`, { cause: error });
}
