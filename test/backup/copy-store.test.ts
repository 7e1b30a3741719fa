import { randomBytes } from "node:crypto";
import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { copyStore } from "../../server/app-files/copy-store.ts";
import { openNodeServers } from "../../server/composition/edge.ts";
import { copyDatabase } from "../../server/platforms/embedded/app-databases/copy-database.ts";
import { SqliteReader } from "../../server/platforms/embedded/app-databases/sqlite-reader.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const { signal } = new AbortController();

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
    /** @param change - called before and after the databases are copied, each time; the values are linked after that */
    copy: (change?: (when: "before" | "after") => Promise<void>) =>
      copyStore("kv", folder, {
        ...{ sqlite, links, signal },
        copyDatabases: async () => {
          await change?.("before");
          const copies = await copyDatabases();
          await change?.("after");
          return copies;
        },
      }),
    /** Replaces the value of the one key as Miniflare does: it writes a file, changes the row, and removes the old file. */
    replace: async (last: string | null) => {
      const id = randomBytes(40).toString("hex");
      await writeFile(path.join(blobs, id), id);
      using db = new DatabaseSync(database);
      db.prepare("insert or replace into _mf_entries values ('key', ?)").run(id);
      if (last !== null) await rm(path.join(blobs, last));
      return id;
    },
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
  let [current, copies] = [await store.replace(null), 0];
  const { values, isComplete } = await store.copy(async (when) => {
    // The values that the first three copies name are removed before they are linked.
    if (when === "before" || ++copies <= 3) current = await store.replace(current);
  });
  expect(copies).toBe(4);
  expect(isComplete).toBe(true);
  expect([...values.keys()]).toEqual([current]);
  expect(store.named()).toEqual([current]);
  expect(await readdir(store.links)).toContain(current);
});

test("a store whose value is removed before each try to link it is copied as incomplete", async () => {
  await using store = await givenStore();
  let current = await store.replace(null);
  const { values, isComplete } = await store.copy(async () => {
    current = await store.replace(current);
  });
  expect(isComplete).toBe(false);
  expect([...values.keys()]).toEqual([current]);
  expect(store.named()).not.toContain(current);
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
