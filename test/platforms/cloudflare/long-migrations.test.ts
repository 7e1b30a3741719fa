import { expect, test } from "vitest";
import { z } from "zod";
import type { Migration } from "../../../domain/ports/bundler.ts";
import type { SqlDatabases } from "../../../domain/ports/sql-databases.ts";
import { openOnEmulator, type PlatformOnEmulator } from "../../support/cloudflare/open-on-emulator.ts";

const signal = AbortSignal.timeout(600_000);
const ROWS = 60;

/** A migration of about 126 kB, which cannot be applied twice, and has a comment at the end of a statement; and a short one. */
function migrationsOf(table: string): Migration[] {
  const rows = Array.from({ length: ROWS }, (_, n) => `INSERT INTO ${table} VALUES (${n}, '${"; ".repeat(1000)}''')`);
  return [
    {
      name: `${table} it's 1`,
      statements: [`CREATE TABLE ${table}(id INTEGER PRIMARY KEY, name TEXT) -- all`, ...rows],
    },
    { name: `${table} 2`, statements: [`ALTER TABLE ${table} ADD COLUMN price INTEGER`] },
  ];
}

const counts = z.array(z.object({ results: z.array(z.object({ goods: z.number(), entries: z.number() })) }));

/** How many rows the migrations of a table have made, and how many of them are recorded. */
async function countRows({ emulator }: PlatformOnEmulator, table: string): Promise<number[]> {
  const [uuid = ""] = [...emulator.account.state.databases].find(([, { name }]) => name.endsWith("db-1")) ?? [];
  const sql = `SELECT (SELECT count(*) FROM ${table}) AS goods,
    (SELECT count(*) FROM d1_migrations WHERE name LIKE '${table} %') AS entries`;
  const [result] = counts.parse(await emulator.runtime.runBatch(uuid, [{ sql }]));
  return Object.values(result?.results[0] ?? {});
}

const migrate = (databases: SqlDatabases, table: string): Promise<void> =>
  databases.migrate("db-1", migrationsOf(table), signal);

test("a migration that is longer than a request is imported as a file, and applied once", async () => {
  await using t = await openOnEmulator({}, { runsScripts: false });
  await migrate(t.platform.databases, "goods");
  await migrate(t.platform.databases, "goods");
  expect(await countRows(t, "goods")).toEqual([ROWS, 2]);
  const imports = t.emulator.requests.filter((each) => each.path.endsWith("/import"));
  expect(imports.map(({ method }) => method)).toEqual(["POST", "POST", "POST"]);
  expect(t.emulator.requests.filter((each) => each.path.startsWith("/uploads/"))).toHaveLength(1);
});

test("a long migration is applied once although its process is killed after any request, or a response is lost", async () => {
  await using t = await openOnEmulator({ attempts: 1 }, { runsScripts: false });
  const before = t.emulator.requests.length;
  await migrate(t.platform.databases, "goods");
  const total = t.emulator.requests.length - before;
  for (let last = 1; last < total; last++)
    for (const fault of [{ status: 503 } as const, "lost response" as const]) {
      const table = `goods_${last}_${fault === "lost response" ? "lost" : "refused"}`;
      const killed = new AbortController();
      let count = 0;
      t.emulator.failRequests(() => {
        if (++count < last) return null;
        killed.abort(new Error("killed"));
        return fault;
      });
      await t.platform.databases.migrate("db-1", migrationsOf(table), killed.signal).catch(() => {});
      t.emulator.failRequests(null);
      const { databases } = await t.reopen();
      await migrate(databases, table);
      expect([last, fault, await countRows(t, table)]).toEqual([last, fault, [ROWS, 2]]);
    }
});

test("a long migration that fails applies nothing, and says why", async () => {
  await using t = await openOnEmulator({}, { runsScripts: false });
  const statements = [...(migrationsOf("goods")[0]?.statements ?? []), "INSERT INTO absent VALUES (1)"];
  const wrong = { name: "0001.sql", statements };
  await expect(t.platform.databases.migrate("db-1", [wrong], signal)).rejects.toThrow(
    'Migration "0001.sql" failed: no such table: absent',
  );
  await migrate(t.platform.databases, "goods");
  expect(await countRows(t, "goods")).toEqual([ROWS, 2]);
});
