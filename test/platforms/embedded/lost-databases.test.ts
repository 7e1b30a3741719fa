import { copyFile, mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { reportLostDatabases } from "../../../server/platforms/embedded/node-server/lost-databases.ts";
import type { PrintedRecord } from "../../../server/platforms/embedded/runtime-logs/record-sink.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

function createDatabase(file: string): void {
  using database = new DatabaseSync(file);
  database.exec("CREATE TABLE visits (id INTEGER PRIMARY KEY); INSERT INTO visits DEFAULT VALUES");
}

/** A server with a deployed database, whose copy `use` changes. */
async function reportsAfter(use: (written: string) => void | Promise<void>): Promise<PrintedRecord[]> {
  await using folder = await temporaryFolder();
  const [layer, written] = [path.join(folder.path, "layer"), path.join(folder.path, "written")];
  for (const each of [layer, written]) await mkdir(path.join(each, "database"), { recursive: true });
  createDatabase(path.join(layer, "database/app.db"));
  await copyFile(path.join(layer, "database/app.db"), path.join(written, "database/app.db"));
  await use(written);
  const records: PrintedRecord[] = [];
  const sink = { print: (record: PrintedRecord) => void records.push(record), isFull: () => false, drop: () => {} };
  await reportLostDatabases({ written, layers: [path.join(folder.path, "uppermost"), layer] }, sink);
  return records;
}

test("a SQLite database that a server creates beside its code is reported, with a path that stays", async () => {
  const records = await reportsAfter((written) => createDatabase(path.join(written, "data.sqlite")));
  expect(records).toEqual([
    [
      expect.any(Number),
      "warn",
      null,
      'What the server wrote to the SQLite database "data.sqlite" is lost, because the folder of its code is new at each start. Files below /data stay: use a path such as "/data/data.sqlite".',
    ],
  ]);
});

test("a deployed database is reported if the server has changed it", async () => {
  const records = await reportsAfter((written) => {
    using database = new DatabaseSync(path.join(written, "database/app.db"));
    database.exec("DELETE FROM visits");
  });
  expect(records.map(([, , , message]) => message)).toEqual([expect.stringContaining('"database/app.db"')]);
});

test("a deployed database is reported if its changes are in a write-ahead log", async () => {
  const records = await reportsAfter((written) => writeFile(path.join(written, "database/app.db-wal"), "changes"));
  expect(records.map(([, , , message]) => message)).toEqual([expect.stringContaining('"database/app.db"')]);
});

test("a deployed database that was only opened, and files that are no databases, are not reported", async () => {
  const records = await reportsAfter(async (written) => {
    using database = new DatabaseSync(path.join(written, "database/app.db"));
    expect(database.prepare("SELECT count(*) AS count FROM visits").get()).toEqual({ count: 1 });
    await writeFile(path.join(written, "app.log"), "SQLite format 3");
    await symlink(path.join(written, "database/app.db"), path.join(written, "link.db"));
    await mkdir(path.join(written, "node_modules/package"), { recursive: true });
    createDatabase(path.join(written, "node_modules/package/cache.db"));
  });
  expect(records).toEqual([]);
});
