import { describe, expect, test } from "vitest";
import { MigrationFailed, type SqlDatabases } from "../../domain/ports/sql-databases.ts";

export interface SqlDatabasesHarness extends AsyncDisposable {
  databases: SqlDatabases;
}

const CREATE = {
  name: "0001_goods.sql",
  statements: ["CREATE TABLE goods(name TEXT UNIQUE)", "INSERT INTO goods VALUES ('tea')"],
};
const ADD = { name: "0002_more.sql", statements: ["INSERT INTO goods VALUES ('salt')"] };

/** The contract of every platform's SQL databases. */
export function sqlDatabasesContract(driver: string, open: () => Promise<SqlDatabasesHarness>): void {
  describe(`SQL databases (${driver})`, () => {
    test("a created database is in the list, even without content", async () => {
      await using h = await openWithMigrate(open);
      await h.databases.create("db-1");
      expect(await h.databases.list()).toEqual(["db-1"]);
    });

    test("creating a database again keeps its content", async () => {
      await using h = await openWithMigrate(open);
      await h.databases.create("db-1");
      await h.migrate(CREATE);
      await h.databases.create("db-1");
      expect(await h.hasRows("goods", 1)).toBe(true);
    });

    test("migrations are applied in order, each only once", async () => {
      await using h = await openWithMigrate(open);
      await h.databases.create("db-1");
      await h.migrate(CREATE);
      await h.migrate(CREATE, ADD);
      await h.migrate(CREATE, ADD);
      expect(await h.hasRows("goods", 2)).toBe(true);
    });

    test("applied migrations are recorded in the table that wrangler uses", async () => {
      await using h = await openWithMigrate(open);
      await h.databases.create("db-1");
      await h.migrate(CREATE);
      expect(await h.hasRows("d1_migrations WHERE name = '0001_goods.sql' AND applied_at IS NOT NULL", 1)).toBe(true);
    });

    test("a failed migration names itself and the reason, is rolled back, and keeps the migrations before it", async () => {
      await using h = await openWithMigrate(open);
      await h.databases.create("db-1");
      const broken = {
        name: "0002_more.sql",
        statements: ["INSERT INTO goods VALUES ('salt')", "INSERT INTO absent VALUES (1)"],
      };
      const migration = h.migrate(CREATE, broken);
      await expect(migration).rejects.toThrow(MigrationFailed);
      await expect(migration).rejects.toThrow(/^Migration "0002_more.sql" failed: no such table: absent/);
      expect(await h.hasRows("goods", 1)).toBe(true);
    });

    test("a corrected migration continues where the failed one stopped", async () => {
      await using h = await openWithMigrate(open);
      await h.databases.create("db-1");
      await h.migrate(CREATE, { name: "0002_more.sql", statements: ["nonsense"] }).catch(() => {});
      await h.migrate(CREATE, ADD);
      expect(await h.hasRows("goods", 2)).toBe(true);
    });

    test("statements may contain triggers, comments, and semicolons in strings", async () => {
      await using h = await openWithMigrate(open);
      await h.databases.create("db-1");
      const trigger =
        "-- keeps pairs\nCREATE TRIGGER pair AFTER INSERT ON goods WHEN NEW.name = 'a;b' BEGIN INSERT INTO goods VALUES ('c;d'); END";
      await h.migrate(CREATE, { name: "0002", statements: [trigger, "INSERT INTO goods VALUES ('a;b')"] });
      expect(await h.hasRows("goods", 3)).toBe(true);
    });

    test("databases are independent of each other", async () => {
      await using h = await openWithMigrate(open);
      await h.databases.create("db-1");
      await h.databases.create("db-2");
      await h.migrate(CREATE);
      await expect(h.databases.migrate("db-2", [ADD], AbortSignal.timeout(30_000))).rejects.toThrow(
        /no such table: goods/,
      );
    });

    test("a removed database is gone with its content, and can be removed again", async () => {
      await using h = await openWithMigrate(open);
      await h.databases.create("db-1");
      await h.migrate(CREATE);
      await h.databases.remove("db-1");
      await h.databases.remove("db-1");
      expect(await h.databases.list()).toEqual([]);
      await h.databases.create("db-1");
      await h.migrate(CREATE);
      expect(await h.hasRows("goods", 1)).toBe(true);
    });

    test("an aborted migration applies nothing", async () => {
      await using h = await openWithMigrate(open);
      await h.databases.create("db-1");
      await expect(h.databases.migrate("db-1", [CREATE], AbortSignal.abort())).rejects.toThrow(/abort/i);
      await h.migrate(CREATE);
      expect(await h.hasRows("goods", 1)).toBe(true);
    });

    test("an invalid database id is an error", async () => {
      await using h = await openWithMigrate(open);
      for (const id of ["", "..", "../x", "a/b", "A b", ".hidden"])
        await expect(h.databases.create(id)).rejects.toThrow(TypeError);
    });
  });
}

async function openWithMigrate(open: () => Promise<SqlDatabasesHarness>) {
  const harness = await open();
  const { databases } = harness;
  const migrate = (...migrations: { name: string; statements: string[] }[]) =>
    databases.migrate("db-1", migrations, AbortSignal.timeout(30_000));
  let checks = 0;
  return {
    databases,
    migrate,
    /** Whether a query returns this number of rows. The port cannot read, so a constraint checks the number. */
    async hasRows(from: string, rows: number): Promise<boolean> {
      const table = `check_${++checks}`;
      const statements = [
        `CREATE TABLE ${table}(n CHECK (n = ${rows}))`,
        `INSERT INTO ${table} SELECT count(*) FROM ${from}`,
      ];
      return migrate({ name: table, statements }).then(
        () => true,
        () => false,
      );
    },
    [Symbol.asyncDispose]: () => harness[Symbol.asyncDispose](),
  };
}
