import { describe, expect, test } from "vitest";
import { MigrationRefused, type SqlDatabases } from "../../domain/ports/sql-databases.ts";

export interface SqlDatabasesHarness extends AsyncDisposable {
  databases: SqlDatabases;
}

const CREATE = {
  name: "0001_goods.sql",
  statements: ["CREATE TABLE goods(name TEXT UNIQUE)", "INSERT INTO goods VALUES ('tea')"],
};
const ADD = { name: "0002_more.sql", statements: ["INSERT INTO goods VALUES ('salt')"] };

/** What every platform's databases do. */
export function sqlDatabasesContract(driver: string, open: () => Promise<SqlDatabasesHarness>): void {
  describe(`SQL databases (${driver})`, () => {
    test("a database exists once it is created, with or without content", async () => {
      await using h = await given(open);
      await h.databases.create("db-1");
      expect(await h.databases.list()).toEqual(["db-1"]);
    });

    test("creating a database again leaves its content alone", async () => {
      await using h = await given(open);
      await h.databases.create("db-1");
      await h.migrate(CREATE);
      await h.databases.create("db-1");
      expect(await h.holds("goods", 1)).toBe(true);
    });

    test("migrations are applied in order, and each only once", async () => {
      await using h = await given(open);
      await h.databases.create("db-1");
      await h.migrate(CREATE);
      await h.migrate(CREATE, ADD);
      await h.migrate(CREATE, ADD);
      expect(await h.holds("goods", 2)).toBe(true);
    });

    test("what was applied is noted where wrangler looks for it", async () => {
      await using h = await given(open);
      await h.databases.create("db-1");
      await h.migrate(CREATE);
      expect(await h.holds("d1_migrations WHERE name = '0001_goods.sql' AND applied_at IS NOT NULL", 1)).toBe(true);
    });

    test("a refused migration is named with the reason, leaves nothing behind, and keeps those before it", async () => {
      await using h = await given(open);
      await h.databases.create("db-1");
      const broken = {
        name: "0002_more.sql",
        statements: ["INSERT INTO goods VALUES ('salt')", "INSERT INTO absent VALUES (1)"],
      };
      const refused = h.migrate(CREATE, broken);
      await expect(refused).rejects.toThrow(MigrationRefused);
      await expect(refused).rejects.toThrow(/^Migration "0002_more.sql" was refused: no such table: absent/);
      expect(await h.holds("goods", 1)).toBe(true);
    });

    test("a corrected migration goes on where the refused one stopped", async () => {
      await using h = await given(open);
      await h.databases.create("db-1");
      await h.migrate(CREATE, { name: "0002_more.sql", statements: ["nonsense"] }).catch(() => {});
      await h.migrate(CREATE, ADD);
      expect(await h.holds("goods", 2)).toBe(true);
    });

    test("triggers, comments and semicolons in texts are statements like others", async () => {
      await using h = await given(open);
      await h.databases.create("db-1");
      const trigger =
        "-- keeps pairs\nCREATE TRIGGER pair AFTER INSERT ON goods WHEN NEW.name = 'a;b' BEGIN INSERT INTO goods VALUES ('c;d'); END";
      await h.migrate(CREATE, { name: "0002", statements: [trigger, "INSERT INTO goods VALUES ('a;b')"] });
      expect(await h.holds("goods", 3)).toBe(true);
    });

    test("databases know nothing of each other", async () => {
      await using h = await given(open);
      await h.databases.create("db-1");
      await h.databases.create("db-2");
      await h.migrate(CREATE);
      await expect(h.databases.migrate("db-2", [ADD], AbortSignal.timeout(30_000))).rejects.toThrow(
        /no such table: goods/,
      );
    });

    test("a removed database is gone with its content, and removing it again succeeds", async () => {
      await using h = await given(open);
      await h.databases.create("db-1");
      await h.migrate(CREATE);
      await h.databases.remove("db-1");
      await h.databases.remove("db-1");
      expect(await h.databases.list()).toEqual([]);
      await h.databases.create("db-1");
      await h.migrate(CREATE);
      expect(await h.holds("goods", 1)).toBe(true);
    });

    test("an aborted signal applies nothing", async () => {
      await using h = await given(open);
      await h.databases.create("db-1");
      await expect(h.databases.migrate("db-1", [CREATE], AbortSignal.abort())).rejects.toThrow(/abort/i);
      await h.migrate(CREATE);
      expect(await h.holds("goods", 1)).toBe(true);
    });

    test("an id that is no plain name is refused", async () => {
      await using h = await given(open);
      for (const id of ["", "..", "../x", "a/b", "A b", ".hidden"])
        await expect(h.databases.create(id)).rejects.toThrow(TypeError);
    });
  });
}

async function given(open: () => Promise<SqlDatabasesHarness>) {
  const harness = await open();
  const { databases } = harness;
  const migrate = (...migrations: { name: string; statements: string[] }[]) =>
    databases.migrate("db-1", migrations, AbortSignal.timeout(30_000));
  let checks = 0;
  return {
    databases,
    migrate,
    /** Whether a query over the table yields so many rows; the port has no way to read, so a constraint judges. */
    async holds(from: string, rows: number): Promise<boolean> {
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
