import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { EmbeddedSqlDatabases } from "../../server/platforms/embedded/databases/sql-databases.ts";
import { openTestEdge } from "../support/edge/test-edge.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { hazard, verifies } from "../support/verifies.ts";
import { sqlDatabasesContract } from "./sql-databases.ts";

sqlDatabasesContract("embedded", async () => {
  const t = await openTestEdge();
  return { databases: t.edge.databases, [Symbol.asyncDispose]: () => t[Symbol.asyncDispose]() };
});

const READING = `export default { async fetch(request, { DB }) {
  return Response.json(await DB.prepare("SELECT name FROM sqlite_master WHERE name LIKE 'table_%' ORDER BY name").raw());
} }`;

test("a migration is seen by the app, also when the app was answering before and while it ran", async () => {
  await using t = await openTestEdge();
  await t.publish("shop", READING, { bindings: [{ type: "d1", name: "DB", id: "x" }], databaseId: "db-1" });
  const migrate = (n: number) =>
    t.edge.databases.migrate(
      "db-1",
      [{ name: `${n}`, statements: [`CREATE TABLE table_${n}(a)`] }],
      AbortSignal.timeout(30_000),
    );
  const visits = Promise.all(Array.from({ length: 20 }, () => t.visit("shop")));
  await Promise.all([migrate(1), migrate(2)]);
  expect((await visits).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  expect((await t.visit("shop")).text).toBe('[["table_1"],["table_2"]]');
});

test("databases survive the process that made them", async () => {
  await using t = await openTestEdge();
  await t.edge.databases.create("db-1");
  await t.edge.databases.migrate(
    "db-1",
    [{ name: "1", statements: ["CREATE TABLE table_1(a)"] }],
    AbortSignal.timeout(30_000),
  );
  await t.edge.close();
  await using later = await openTestEdge({ root: t.root });
  await later.publish("shop", READING, { bindings: [{ type: "d1", name: "DB", id: "x" }], databaseId: "db-1" });
  expect((await later.visit("shop")).text).toBe('[["table_1"]]');
});

/** A database that takes its time for every migration. */
async function slowDatabase(milliseconds: number) {
  const server = createServer((_request, response) => {
    void sleep(milliseconds).then(() => response.end('{"refused": null}'));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return { port, [Symbol.asyncDispose]: async () => server.close().closeAllConnections() };
}

verifies(hazard(46), "migrations that are each slow enough to pass are bounded together", async () => {
  await using folder = await temporaryFolder();
  const databases = new EmbeddedSqlDatabases({
    root: folder.path,
    holder: { withDatabaseAtRest: (_id, work) => work() },
    startWorker: () => slowDatabase(100),
    migrateTimeoutMs: 550,
  });
  const migrations = Array.from({ length: 1000 }, (_, n) => ({ name: `${n}`, statements: ["SELECT 1"] }));
  const migrating = databases.migrate("db-1", migrations, AbortSignal.timeout(30_000));
  await expect(migrating).rejects.toThrow(/^Migration "[3-6]" was refused: it did not finish in time/);
});
