import { z } from "zod";
import {
  type AppDatabase,
  type AppDatabases,
  DATABASE_LIMITS,
  type DatabaseQuery,
  type DatabaseTable,
  type DatabaseValue,
  type QueryResult,
} from "../../../domain/ports/app-databases.ts";
import type { StoredApp } from "../../../domain/ports/app-storage.ts";
import { ServiceError } from "../../../domain/shared/errors.ts";
import type { CloudflareClient } from "./cloudflare-client.ts";
import { CloudflareError } from "./cloudflare-error.ts";
import { type NamespaceScripts, readTags } from "./namespace-scripts.ts";
import { toSubquery } from "./single-select.ts";

const NAME = "main";
const SQL_ERROR = 7500;
const database = z.object({ file_size: z.coerce.number().nullish() });
const rawResults = z.array(
  z.object({
    results: z.object({ columns: z.array(z.string()).default([]), rows: z.array(z.array(z.unknown())).default([]) }),
    meta: z.looseObject({ duration: z.number().optional() }).nullish(),
  }),
);

const { tables: MAX_TABLES, columns: MAX_COLUMNS, countedRows: MAX_ROWS } = DATABASE_LIMITS;
const TABLES = `SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view')
  AND name NOT GLOB 'sqlite_*' AND name NOT GLOB '_cf_*' ORDER BY name LIMIT ${MAX_TABLES + 1}`;
/** Of one request to the database. */
const STATEMENTS_PER_BATCH = 50;

type RawResult = z.output<typeof rawResults>[number];

/** Reads the D1 databases of apps through Cloudflare's API. */
export class CloudflareAppDatabases implements AppDatabases {
  readonly #client: CloudflareClient;
  readonly #scripts: NamespaceScripts;

  constructor({ client, scripts }: { client: CloudflareClient; scripts: NamespaceScripts }) {
    this.#client = client;
    this.#scripts = scripts;
  }

  async describe(app: StoredApp, name: string | null, signal: AbortSignal): Promise<AppDatabase | null> {
    const uuid = await this.#find(app);
    if (uuid === null) return null;
    requireName(name);
    const path = `d1/database/${uuid}`;
    const request = { operation: "read the size of a database", method: "GET", path, signal } as const;
    const { file_size: bytes } = await this.#client.call(request, database);
    const [listed] = await this.#run(uuid, [TABLES], signal);
    const found = listed?.results.rows ?? [];
    const tables = await this.#describeTables(uuid, found.slice(0, MAX_TABLES), signal);
    const more = found.length > MAX_TABLES;
    return { kind: "sqlite", name: NAME, names: [NAME], bytes: bytes ?? 0, tables, has_more_tables: more };
  }

  async #describeTables(uuid: string, found: readonly unknown[][], signal: AbortSignal): Promise<DatabaseTable[]> {
    const tables: DatabaseTable[] = [];
    for (let index = 0; index < found.length; index += STATEMENTS_PER_BATCH / 2) {
      const part = found.slice(index, index + STATEMENTS_PER_BATCH / 2);
      const statements = part.flatMap(([name]) => [`PRAGMA table_info(${quoteName(name)})`, countRows(name)]);
      const results = await this.#run(uuid, statements, signal);
      part.forEach(([name, type], n) => tables.push(toTable(name, type, results.slice(2 * n, 2 * n + 2))));
    }
    return tables;
  }

  async query(
    app: StoredApp,
    name: string | null,
    { sql, limit }: DatabaseQuery,
    signal: AbortSignal,
  ): Promise<QueryResult> {
    const uuid = await this.#find(app);
    if (uuid === null) throw new ServiceError("not_found", "The app has no database.");
    requireName(name);
    const statement = toSubquery(sql, limit + 1);
    if (statement === null) throw new ServiceError("invalid", "sql: must be one SELECT statement, without parameters.");
    const [result] = await this.#run(uuid, [statement], signal).catch((error: unknown) => {
      if (!(error instanceof CloudflareError) || !error.hasCode(SQL_ERROR)) throw error;
      throw new ServiceError("invalid", `sql: ${error.errors.map(({ message }) => message).join(" ")}`);
    });
    const rows: DatabaseValue[][] = [];
    let bytes = 0;
    let isTruncated = false;
    for (const values of result?.results.rows ?? []) {
      const row = values.map(toValue);
      bytes += Buffer.byteLength(JSON.stringify(row));
      isTruncated = rows.length === limit || bytes > DATABASE_LIMITS.resultBytes;
      if (isTruncated) break;
      rows.push(row);
    }
    const columns = (result?.results.columns ?? []).map((column) => ({ name: column }));
    return { columns, rows, is_truncated: isTruncated, duration_ms: Math.round(result?.meta?.duration ?? 0) };
  }

  async #run(uuid: string, statements: readonly string[], signal: AbortSignal): Promise<RawResult[]> {
    const body = { batch: statements.map((sql) => ({ sql })) };
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(DATABASE_LIMITS.statementMs)]);
    const path = `d1/database/${uuid}/raw`;
    const request = { operation: "read a database", method: "POST", path, body, isRead: true } as const;
    return this.#client.call({ ...request, signal: timeout }, rawResults);
  }

  /** Cloudflare's id of the database; `null` if the live version of the app has none. */
  async #find({ slug, appId }: StoredApp): Promise<string | null> {
    const live = await this.#scripts.settings(slug);
    if (live === null || readTags(live.tags)?.appId !== appId) return null;
    const binding = live.bindings.find(({ type }) => type === "d1");
    return binding === undefined ? null : String(binding["id"] ?? binding["database_id"]);
  }
}

function requireName(name: string | null): void {
  if (name !== null && name !== NAME) throw new ServiceError("not_found", `database: the app has only "${NAME}".`);
}

function quoteName(name: unknown): string {
  return `"${String(name).replaceAll('"', '""')}"`;
}

function countRows(name: unknown): string {
  return `SELECT count(*) FROM (SELECT 1 FROM ${quoteName(name)} LIMIT ${MAX_ROWS + 1})`;
}

function toTable(name: unknown, type: unknown, [columns, count]: readonly RawResult[]): DatabaseTable {
  const rows = Number(count?.results.rows[0]?.[0] ?? 0);
  const indexOf = (column: string) => columns?.results.columns.indexOf(column) ?? -1;
  const [nameAt, typeAt, keyAt] = [indexOf("name"), indexOf("type"), indexOf("pk")];
  return {
    schema: NAME,
    name: String(name),
    kind: type === "view" ? "view" : "table",
    columns: (columns?.results.rows ?? []).slice(0, MAX_COLUMNS).map((row) => ({
      name: String(row[nameAt]),
      type: String(row[typeAt]),
      is_primary_key: Number(row[keyAt]) > 0,
    })),
    row_count: type === "view" ? null : Math.min(rows, MAX_ROWS),
    has_more_rows: type !== "view" && rows > MAX_ROWS,
  };
}

/** Cloudflare returns binary data as a list of numbers. */
function toValue(value: unknown): DatabaseValue {
  const { valueBytes } = DATABASE_LIMITS;
  if (typeof value === "number" || typeof value === "boolean") return value;
  if (typeof value === "string") {
    const bytes = Buffer.byteLength(value);
    return bytes <= valueBytes ? value : { text: value.slice(0, valueBytes / 4).toWellFormed(), bytes };
  }
  if (!Array.isArray(value)) return null;
  return { base64: Buffer.from(value.slice(0, valueBytes) as number[]).toString("base64"), bytes: value.length };
}
