import { mkdir, readdir, symlink, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { DependencyStore, type StoreLimits } from "../../../server/drivers/bundler/dependencies/dependency-store.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

async function open(limits: Partial<StoreLimits> = {}) {
  const folder = await temporaryFolder();
  const store = new DependencyStore(folder.path, limits);
  const failures: unknown[] = [];
  /** Adds an entry with an archive of this size. */
  const add = async (organizationId: string, key: string, bytes = 1) => {
    const prepared = await store.prepare();
    await writeFile(path.join(prepared, "source.tar"), "x".repeat(bytes));
    store.add(organizationId, key, prepared, (error) => failures.push(error));
    await store.close();
  };
  const keys = async (organizationId: string) => (await readdir(path.join(folder.path, organizationId))).toSorted();
  /** Makes an entry the least recently used one of those that were used later. */
  const age = (organizationId: string, key: string, seconds: number) =>
    utimes(path.join(folder.path, organizationId, key), seconds, seconds);
  const { path: root } = folder;
  return { store, root, failures, add, keys, age, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

test("the least recently used entries of an organization are evicted by their number and by their size", async () => {
  await using t = await open({ organizationEntries: 2, organizationBytes: 100 });
  await t.add("a", "1", 10);
  await t.add("a", "2", 10);
  await t.age("a", "1", 1000);
  await t.age("a", "2", 2000);
  expect(await t.store.find("a", "1")).not.toBeNull();
  await t.add("b", "1", 10);
  await t.add("a", "3", 10);
  expect([await t.keys("a"), await t.keys("b")]).toEqual([["1", "3"], ["1"]]);
  await t.age("a", "1", 1000);
  await t.add("a", "4", 95);
  expect(await t.keys("a")).toEqual(["4"]);
  expect(await t.store.find("a", "1")).toBeNull();
});

test("the entries of all organizations together are bounded", async () => {
  await using t = await open({ bytes: 25 });
  await t.add("a", "1", 10);
  await t.age("a", "1", 1000);
  await t.add("b", "1", 10);
  await t.add("c", "1", 10);
  expect([await t.keys("a"), await t.keys("b"), await t.keys("c")]).toEqual([[], ["1"], ["1"]]);
});

test("an entry that contains anything but archives is not added", async () => {
  await using t = await open();
  for (const name of ["source.tar", "other"]) {
    const prepared = await t.store.prepare();
    await symlink("/etc/passwd", path.join(prepared, name));
    t.store.add("a", "1", prepared, (error) => t.failures.push(error));
    await t.store.close();
  }
  expect(t.failures).toHaveLength(2);
  expect(await t.store.list()).toEqual([]);
  expect(await readdir(path.join(t.root, ".incoming"))).toEqual([]);
});

test("an entry that a crash interrupted is removed, and complete ones remain", async () => {
  await using t = await open();
  await t.add("a", "1");
  await mkdir(path.join(t.root, ".incoming", "interrupted"));
  const restarted = new DependencyStore(t.root);
  expect(await restarted.find("a", "1")).not.toBeNull();
  await restarted.discard(await restarted.prepare());
  expect(await readdir(path.join(t.root, ".incoming"))).toEqual([]);
});

test("the entries of one organization can be removed, also while one is being added", async () => {
  await using t = await open();
  await t.add("a", "1");
  await t.add("b", "1");
  const prepared = await t.store.prepare();
  t.store.add("a", "2", prepared, (error) => t.failures.push(error));
  await t.store.remove("a");
  await t.store.remove("a");
  expect([await t.store.list(), t.failures]).toEqual([["b"], []]);
  await expect(t.store.find("..", "b")).rejects.toThrow("cannot be the name");
});
