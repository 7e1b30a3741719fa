import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { EmbeddedSqlDatabases } from "../../server/platforms/embedded/databases/sql-databases.ts";
import { openTestPlatform } from "../support/edge/test-platform.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { hazard, verifies } from "../support/verifies.ts";
import { sqlDatabasesContract } from "./sql-databases.ts";

sqlDatabasesContract("embedded", async () => {
  const t = await openTestPlatform();
  return { databases: t.platform.databases, [Symbol.asyncDispose]: () => t[Symbol.asyncDispose]() };
});

const READING = `export default { async fetch(request, { DB }) {
  return Response.json(await DB.prepare("SELECT name FROM sqlite_master WHERE name LIKE 'table_%' ORDER BY name").raw());
} }`;

test("an app that responds before and during a migration sees its result afterwards", async () => {
  await using t = await openTestPlatform();
  await t.publish("shop", READING, { bindings: [{ type: "d1", name: "DB", id: "x" }], databaseId: "db-1" });
  const migrate = (n: number) =>
    t.platform.databases.migrate(
      "db-1",
      [{ name: `${n}`, statements: [`CREATE TABLE table_${n}(a)`] }],
      AbortSignal.timeout(30_000),
    );
  const responses = Promise.all(Array.from({ length: 20 }, () => t.request("shop")));
  await Promise.all([migrate(1), migrate(2)]);
  expect((await responses).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  expect((await t.request("shop")).text).toBe('[["table_1"],["table_2"]]');
});

test("databases are kept when the process that created them ends", async () => {
  await using t = await openTestPlatform();
  await t.platform.databases.create("db-1");
  await t.platform.databases.migrate(
    "db-1",
    [{ name: "1", statements: ["CREATE TABLE table_1(a)"] }],
    AbortSignal.timeout(30_000),
  );
  await t.platform.close();
  await using later = await openTestPlatform({ dataDirectory: t.dataDirectory });
  await later.publish("shop", READING, { bindings: [{ type: "d1", name: "DB", id: "x" }], databaseId: "db-1" });
  expect((await later.request("shop")).text).toBe('[["table_1"]]');
});

/** A database that applies every migration slowly. */
async function slowDatabase(milliseconds: number) {
  const server = createServer((_request, response) => {
    void sleep(milliseconds).then(() => response.end('{"error": null}'));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return { port, [Symbol.asyncDispose]: async () => server.close().closeAllConnections() };
}

verifies(
  hazard(46),
  "a list of short migrations is stopped at the time limit that applies to all of them together",
  async () => {
    await using folder = await temporaryFolder();
    const databases = new EmbeddedSqlDatabases({
      root: folder.path,
      access: { withDatabaseClosed: (_id, work) => work() },
      startWorker: () => slowDatabase(100),
      postgres: { remove: async () => {}, list: async () => [] },
      migrationTimeoutMs: 550,
    });
    const migrations = Array.from({ length: 1000 }, (_, n) => ({ name: `${n}`, statements: ["SELECT 1"] }));
    const migrating = databases.migrate("db-1", migrations, AbortSignal.timeout(30_000));
    await expect(migrating).rejects.toThrow(/^Migration "\d+" failed: it did not finish in time/);
  },
);
