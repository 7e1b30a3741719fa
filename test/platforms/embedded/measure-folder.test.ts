import { mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { measureFolder, wholeBytes } from "../../../server/platforms/embedded/storage/embedded-app-storage.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const MEBIBYTE = 1024 * 1024;
const measure = (folder: string, stopAt = Infinity) => measureFolder(folder, stopAt);

test("files count in whole blocks, in all folders below, and links are not followed", async () => {
  await using folder = await temporaryFolder();
  const inner = path.join(folder.path, "a", "b");
  await mkdir(inner, { recursive: true });
  await writeFile(path.join(inner, "empty"), "");
  await writeFile(path.join(inner, "small"), "x");
  await writeFile(path.join(folder.path, "blocks"), new Uint8Array(2 * 4096 + 1));
  await symlink("/", path.join(inner, "root"));
  await symlink("/proc/self/mem", path.join(inner, "link.sqlite"));
  expect(await measure(folder.path)).toBe((1 + 1 + 3) * 4096);
  expect(await measure(folder.path, 4096)).toBeLessThan(5 * 4096);
  expect(await measure(path.join(folder.path, "missing"))).toBe(0);
});

test("only the pages in use of a database count, also those that are only in its write-ahead log", async () => {
  await using folder = await temporaryFolder();
  const file = path.join(folder.path, "data.sqlite");
  using database = new DatabaseSync(file);
  const read = (pragma: string) => Number(Object.values(database.prepare(`pragma ${pragma}`).get()!)[0]);
  const used = () => (read("page_count") - read("freelist_count")) * read("page_size");
  expect(await measure(folder.path)).toBe(0);
  database.exec("pragma journal_mode = wal; create table blobs (data blob)");
  const steps = [
    "insert into blobs values (zeroblob(1048576)), (zeroblob(1048576)), (zeroblob(1048576))",
    "delete from blobs where rowid = 2",
    "pragma wal_checkpoint(restart)",
    "insert into blobs values (zeroblob(100))",
    "delete from blobs",
    "pragma wal_checkpoint(truncate)",
    "begin; insert into blobs values (zeroblob(5000)); rollback",
  ];
  for (const step of steps) {
    database.exec(step);
    expect([step, await measure(folder.path)]).toEqual([step, used()]);
  }
  expect(used()).toBeLessThan(MEBIBYTE);
});

test("a file that is not a database causes no error", async () => {
  await using folder = await temporaryFolder();
  for (const [name, content] of [
    ["text.sqlite", "no database"],
    ["noise.sqlite", "x".repeat(5000)],
    ["noise.sqlite-wal", "x".repeat(5000)],
    ["log.sqlite-wal", "x".repeat(20)],
  ] as const)
    await writeFile(path.join(folder.path, name), content);
  await truncate(path.join(folder.path, "log.sqlite-wal"), 0);
  expect(await measure(folder.path)).toBeGreaterThanOrEqual(0);
});

test("in a folder that the app writes to itself, a database counts as a whole, whatever its header says", async () => {
  await using folder = await temporaryFolder();
  const header = Buffer.alloc(100);
  header.writeUInt16BE(4096, 16);
  // One page, and it is free.
  header.writeUInt32BE(1, 28);
  header.writeUInt32BE(1, 36);
  await writeFile(path.join(folder.path, "forged.sqlite"), Buffer.concat([header, new Uint8Array(MEBIBYTE)]));
  expect(await measure(folder.path)).toBe(0);
  expect(await measureFolder(folder.path, Infinity, wholeBytes)).toBeGreaterThan(MEBIBYTE);
});
