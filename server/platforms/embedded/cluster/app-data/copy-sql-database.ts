import { createHash, type Hash } from "node:crypto";
import type { DataWorker, SqlValue, Statement } from "./data-worker.ts";
import { createStaging, insertRow, moveFromStaging, selectRows } from "./sql-rows.ts";
import {
  OBJECTS_QUERY,
  orderTables,
  quoteName,
  readSchema,
  type SqlSchema,
  type SqlTable,
  textOf,
} from "./sql-schema.ts";

interface CopyOptions {
  from: DataWorker;
  /** What its database has is replaced. */
  to: DataWorker;
  /** Whether a running app may change the database meanwhile. */
  isShared: boolean;
  /** Called before each write. */
  checkpoint: () => Promise<void>;
}

const TRIES = 3;
/** A database of this size is read in one transaction. */
const SNAPSHOT_BYTES = 8 * 1024 ** 2;
const PAGE_BYTES = 1024 ** 2;
const [FIRST_ROWS, MAX_ROWS] = [8, 2000];
const STAGING = "_restored_";
const SEQUENCES: Statement = {
  sql: "SELECT 't' || name, 'i' || seq FROM sqlite_sequence WHERE typeof(seq) = 'integer'",
};
const DEFER: Statement = { sql: "PRAGMA defer_foreign_keys = on" };

/**
 * Copies a D1 database: its schema, the exact values of its rows, and the next automatic keys. A small one is of one moment. A larger one
 * is read twice, and is of one moment if both are equal.
 *
 * @returns what is left out, or may be inconsistent
 */
export async function copySqlDatabase(options: CopyOptions): Promise<string[]> {
  for (let tries = 1; ; tries++) {
    const { warnings, isConsistent } = await new DatabaseCopy(options).run();
    if (isConsistent) return warnings;
    if (tries === TRIES)
      return [...warnings, "The database changed all the time. Its rows may be of different moments."];
  }
}

class DatabaseCopy {
  readonly #options: CopyOptions;
  readonly #warnings: string[] = [];

  constructor(options: CopyOptions) {
    this.#options = options;
  }

  async run(): Promise<{ warnings: string[]; isConsistent: boolean }> {
    const { from, isShared } = this.#options;
    await this.#clear();
    const schema = await readSchema(from);
    const { ordered, circular } = orderTables(schema.tables);
    await this.#write([...ordered, ...circular].map(({ sql }) => ({ sql })));
    const readable = [...ordered, ...circular].filter((table) => this.#hasReadableRows(table));
    const snapshot = isShared ? await this.#readSnapshot(schema, readable) : null;
    if (snapshot === "changed") return { warnings: this.#warnings, isConsistent: false };
    const hash = createHash("sha256");
    const read = (table: SqlTable) => hashed(hash, snapshot?.pages(table) ?? readPages(from, table));
    for (const table of readable.filter((each) => !circular.includes(each)))
      for await (const rows of read(table)) await this.#write([DEFER, ...rows.map((row) => insertRow(table, row))]);
    await this.#copyCircular(
      readable.filter((each) => circular.includes(each)),
      read,
    );
    const sequences = schema.hasSequences ? (snapshot?.sequences ?? (await from.query([SEQUENCES])).rows[0] ?? []) : [];
    hash.update(JSON.stringify(sequences));
    await this.#finish(schema, sequences);
    const isConsistent =
      !isShared || snapshot !== null || hash.digest("hex") === (await hashDatabase(from, schema, readable));
    return { warnings: this.#warnings, isConsistent };
  }

  /** Reads a small database in one transaction. @returns `null` if it is large */
  async #readSnapshot(schema: SqlSchema, tables: readonly SqlTable[]) {
    const { from } = this.#options;
    if ((await from.query([{ sql: OBJECTS_QUERY }])).bytes > SNAPSHOT_BYTES) return null;
    const sequences = schema.hasSequences ? [SEQUENCES] : [];
    const selects = tables.map((table) => selectRows(table, null));
    const { rows } = await from.query([{ sql: OBJECTS_QUERY }, ...sequences, ...selects]);
    if (JSON.stringify(rows[0]) !== schema.fingerprint) return "changed";
    const byTable = new Map(tables.map((table, at) => [table, rows[1 + sequences.length + at] ?? []]));
    return {
      sequences: sequences.length === 0 ? [] : (rows[1] ?? []),
      pages: (table: SqlTable) => inParts(byTable.get(table) ?? []),
    };
  }

  /** Whether rows of a virtual table have the values of its columns. */
  #hasReadableRows({ name, sql, isVirtual }: SqlTable): boolean {
    if (!isVirtual) return true;
    if (!/\busing\s+fts5\b/i.test(sql)) return false;
    const content = contentOf(sql);
    if (content === "")
      this.#warnings.push(
        `The full-text index ${JSON.stringify(name)} has no content of its own. Its entries are left out.`,
      );
    return content === null;
  }

  /** Foreign keys that form a circle, or name their own table, are checked when all rows are there. */
  async #copyCircular(
    tables: readonly SqlTable[],
    read: (table: SqlTable) => AsyncIterable<SqlValue[][]>,
  ): Promise<void> {
    if (tables.length === 0) return;
    const staged = tables.map((table, at) => ({ table, name: `${STAGING}${at}` }));
    await this.#write(staged.map(({ table, name }) => createStaging(table, name)));
    for (const { table, name } of staged)
      for await (const rows of read(table)) await this.#write(rows.map((row) => insertRow(table, row, name)));
    const moves = staged.map(({ table, name }) => moveFromStaging(table, name));
    const drops = staged.map(({ name }) => ({ sql: `DROP TABLE ${quoteName(name)}` }));
    await this.#write([DEFER, ...moves, ...drops]);
  }

  async #finish({ tables, objects, hasSequences }: SqlSchema, sequences: readonly SqlValue[][]): Promise<void> {
    if (hasSequences) await this.#write([{ sql: "DELETE FROM sqlite_sequence" }, ...sequences.map(insertSequence)]);
    for (const type of ["index", "view"]) await this.#write(objects.filter((each) => each.type === type));
    const indexes = tables.filter(({ sql, isVirtual }) => isVirtual && (contentOf(sql) ?? "") !== "");
    for (const { name } of indexes)
      await this.#write([{ sql: `INSERT INTO ${quoteName(name)} (${quoteName(name)}) VALUES ('rebuild')` }]);
    await this.#write(objects.filter(({ type }) => type === "trigger"));
  }

  /** Removes what an earlier attempt has left. */
  async #clear(): Promise<void> {
    const { to } = this.#options;
    const { tables } = await readSchema(to);
    const { rows } = await to.query([{ sql: OBJECTS_QUERY }]);
    const drop = (type: string) =>
      (rows[0] ?? [])
        .filter(([found]) => found === type)
        .map(([, name]) => ({ sql: `DROP ${type.toUpperCase()} ${quoteName(textOf(name))}` }));
    const { ordered, circular } = orderTables(tables);
    const dropped = [...circular, ...ordered.toReversed()].map(({ name }) => ({
      sql: `DROP TABLE IF EXISTS ${quoteName(name)}`,
    }));
    await this.#write([...drop("trigger"), ...drop("view")]);
    if (dropped.length > 0) await this.#write([DEFER, ...dropped]);
  }

  async #write(statements: readonly Statement[]): Promise<void> {
    if (statements.length === 0) return;
    await this.#options.checkpoint();
    await this.#options.to.query(statements.map(({ sql, params = [] }) => ({ sql, params })));
  }
}

/** The table with the content of a full-text index: empty for one without content, `null` for one that has it itself. */
function contentOf(sql: string): string | null {
  const found = /[(,]\s*content\s*=\s*(?:'([^']*)'|"([^"]*)"|([^\s,)]*))/i.exec(sql);
  return found === null ? null : (found[1] ?? found[2] ?? found[3] ?? "");
}

function insertSequence([name, seq]: readonly SqlValue[]): Statement {
  const [table, last] = [textOf(name).slice(1), textOf(seq).slice(1)];
  return { sql: "INSERT INTO sqlite_sequence (name, seq) VALUES (?, CAST(? AS INTEGER))", params: [table, last] };
}

async function* readPages(from: DataWorker, table: SqlTable): AsyncGenerator<SqlValue[][]> {
  let limit = FIRST_ROWS;
  let after: SqlValue[] | null = null;
  for (;;) {
    const [rows = []]: SqlValue[][][] = (await from.query([selectRows(table, { after, limit })])).rows;
    if (rows.length > 0) yield rows;
    if (rows.length < limit || table.key.length === 0) return;
    after = rows.at(-1) ?? null;
    const bytesPerRow = JSON.stringify(rows).length / rows.length;
    limit = Math.max(1, Math.min(MAX_ROWS, 4 * limit, Math.floor(PAGE_BYTES / bytesPerRow)));
  }
}

async function* inParts(rows: readonly SqlValue[][]): AsyncGenerator<SqlValue[][]> {
  for (let at = 0; at < rows.length; at += MAX_ROWS) yield rows.slice(at, at + MAX_ROWS);
}

async function* hashed(hash: Hash, pages: AsyncIterable<SqlValue[][]>): AsyncGenerator<SqlValue[][]> {
  for await (const rows of pages) {
    for (const row of rows) hash.update(JSON.stringify(row));
    yield rows;
  }
}

async function hashDatabase(from: DataWorker, before: SqlSchema, tables: readonly SqlTable[]): Promise<string | null> {
  const schema = await readSchema(from);
  if (schema.fingerprint !== before.fingerprint) return null;
  const hash = createHash("sha256");
  const { ordered, circular } = orderTables(before.tables);
  for (const table of [...ordered, ...circular].filter((each) => tables.includes(each)))
    for await (const _ of hashed(hash, readPages(from, table)));
  hash.update(JSON.stringify(schema.hasSequences ? ((await from.query([SEQUENCES])).rows[0] ?? []) : []));
  return hash.digest("hex");
}
