import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { copyStore } from "../../server/app-files/copy-store.ts";
import { openNodeServers } from "../../server/composition/edge.ts";
import { copyDatabase } from "../../server/platforms/embedded/app-databases/copy-database.ts";
import { SqliteReader } from "../../server/platforms/embedded/app-databases/sqlite-reader.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const { signal } = new AbortController();

/** Replaces the value of one key as fast as it can, as Miniflare does: it writes a file, changes the row, and removes the old file. */
const WRITER = `
  const { DatabaseSync } = require("node:sqlite");
  const { writeFileSync, rmSync } = require("node:fs");
  const { randomBytes } = require("node:crypto");
  const { parentPort, workerData: { database, blobs } } = require("node:worker_threads");
  const db = new DatabaseSync(database);
  let last = null;
  const write = () => {
    const id = randomBytes(40).toString("hex");
    writeFileSync(blobs + "/" + id, id);
    db.prepare("insert or replace into _mf_entries values ('key', ?)").run(id);
    if (last !== null) rmSync(blobs + "/" + last);
    if (last === null) parentPort.postMessage("started");
    last = id;
    setTimeout(write, 2);
  };
  write();`;

async function givenStore() {
  await using opening = new AsyncDisposableStack();
  const { path: root } = opening.use(await temporaryFolder());
  const [folder, work, links] = [path.join(root, "kv"), path.join(root, "work"), path.join(root, "work/links")];
  const blobs = path.join(folder, "values/blobs");
  for (const each of [blobs, links]) await mkdir(each, { recursive: true });
  const database = path.join(folder, "values.sqlite");
  const created = new DatabaseSync(database);
  created.exec("pragma journal_mode = wal; create table _mf_entries (key text primary key, blob_id text)");
  created.close();
  const { sandbox } = openNodeServers({ sandbox: "bubblewrap" });
  const sqlite = new SqliteReader({ sandbox, copyRoot: path.join(work, "reads") });
  const copyDatabases = async () => {
    for (const suffix of ["", "-wal"]) await rm(path.join(work, `copy${suffix}`), { force: true });
    await copyDatabase({ folder, name: "values.sqlite" }, path.join(work, "copy"), signal);
    return [{ folder: work, name: "copy" }];
  };
  const opened = opening.move();
  return {
    ...{ root, folder, blobs, database, work, links },
    copy: () => copyStore("kv", folder, { sqlite, links, copyDatabases, signal }),
    /** The ids that the rows of the copy name. */
    named: () => {
      using copy = new DatabaseSync(path.join(work, "copy"));
      return copy
        .prepare("select blob_id from _mf_entries")
        .all()
        .map((row) => String(row["blob_id"]));
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

test("a store whose one key changes all the time is copied with the value that its row names, and no other", async () => {
  await using store = await givenStore();
  const { database, blobs } = store;
  const writer = new Worker(WRITER, { eval: true, workerData: { database, blobs } });
  await new Promise((resolve) => void writer.once("message", resolve));
  try {
    const { values, isComplete } = await store.copy();
    expect(isComplete).toBe(true);
    expect([...values.keys()]).toEqual(store.named());
    expect(await readdir(store.links)).toEqual(expect.arrayContaining([...values.keys()]));
  } finally {
    await writer.terminate();
  }
});

test("links of a store are not followed, neither folders nor values", async () => {
  await using store = await givenStore();
  const secret = path.join(store.root, "secret");
  await mkdir(path.join(secret, "blobs"), { recursive: true });
  await writeFile(path.join(secret, "blobs/secret"), "secret");
  await symlink(path.join(secret, "blobs/secret"), path.join(store.blobs, "link"));
  await symlink(secret, path.join(store.folder, "linked"));
  await writeFile(path.join(store.blobs, "ab"), "value");
  const database = new DatabaseSync(store.database);
  database.exec("insert into _mf_entries values ('key', 'ab')");
  database.close();
  const { values } = await store.copy();
  expect([...values]).toEqual([["ab", "values/blobs/ab"]]);
  expect(await readdir(store.links)).toEqual(["ab"]);
});
