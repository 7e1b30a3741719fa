import { randomBytes, randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import type { OpenWorkspace } from "../../../domain/ports/agent-workspaces.ts";
import { bucketOf, keyOf } from "../../../server/drivers/agent-workspaces/archive-place.ts";
import { openTestWorkspaces } from "../../support/agents/test-workspaces.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const NEVER = new AbortController().signal;

async function openStore() {
  await using opening = new AsyncDisposableStack();
  const store = opening.use(await openTestWorkspaces());
  const { workspaces, objects, orm } = store;
  const temporary = opening.use(await temporaryFolder());
  const id = { orgId: randomUUID(), agentId: randomUUID() };
  const bucket = bucketOf(id);
  const givenFolder = async (files: Record<string, string | Buffer>) => {
    const folder = path.join(temporary.path, randomUUID());
    await mkdir(folder);
    for (const [name, content] of Object.entries(files)) await writeFile(path.join(folder, name), content);
    return folder;
  };
  const saveFolder = (folder: string, before: (opened: OpenWorkspace) => Promise<unknown> = async () => null) =>
    workspaces.open(id, { readOnly: false, signal: NEVER }, async (opened) => {
      await before(opened);
      return await opened.save(folder);
    });
  const save = async (files: Record<string, string | Buffer>) => saveFolder(await givenFolder(files));
  const listPaths = async () => (await workspaces.list(id)).files.map((file) => file.path);
  const listKeys = async () => (await objects.list(bucket)).map(({ key }) => key);
  /** As if the holder had not renewed its lease in time. */
  const expireLease = () =>
    orm.em.fork().execute(`update agent_workspaces set leased_until = now() - interval '1 second'`);
  const opened = opening.move();
  return {
    ...{ ...store, id, bucket, givenFolder, saveFolder, save, listPaths, listKeys, expireLease },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

test("files that have not changed are not stored again, and changed ones replace their archive", async () => {
  await using store = await openStore();
  const folder = await store.givenFolder({ a: "A", large: randomBytes(2_000_000) });
  await store.saveFolder(folder);
  const [first, ...others] = await store.listKeys();
  expect(others).toEqual([]);
  await store.saveFolder(folder);
  expect(await store.listKeys()).toEqual([first]);
  await writeFile(path.join(folder, "a"), "B");
  await store.saveFolder(folder);
  const keys = await store.listKeys();
  expect([keys.length, keys[0]! > first!]).toEqual([1, true]);
  await store.save({});
  expect(await store.listKeys()).toEqual([]);
});

test("a program whose lease has ended does not replace the files of the next one", async () => {
  await using store = await openStore();
  await store.save({ a: "A" });
  const late = await store.givenFolder({ late: "" });
  const next = await store.givenFolder({ next: "" });
  const saved = await store.saveFolder(late, async () => {
    await store.expireLease();
    const use = (opened: OpenWorkspace) => opened.save(next);
    const other = await store.openOther().open(store.id, { readOnly: false, signal: NEVER }, use);
    expect(other).toEqual({ problem: null, omitted: 0 });
  });
  expect(saved.problem).toContain("Run the program again");
  expect(await store.listPaths()).toEqual(["next"]);
  expect(await store.listKeys()).toHaveLength(1);
});

test("a running program renews its lease, and its end ends the lease", async () => {
  await using store = await openStore();
  const readLease = async () => {
    const query = "select leased_until > now() as held from agent_workspaces";
    const [row] = await store.orm.em.fork().execute<{ held: boolean | null }[]>(query);
    return row?.held;
  };
  await store.workspaces.open(store.id, { readOnly: false, signal: NEVER }, async () => {
    await store.expireLease();
    await expect.poll(readLease).toBe(true);
  });
  expect(await readLease()).toBeNull();
});

test("the lease of a killed process ends when the service starts as the only process", async () => {
  await using store = await openStore();
  expect(await store.records.acquire(store.id)).not.toBeNull();
  expect(await store.records.acquire(store.id)).toBeNull();
  await store.records.releaseAll();
  expect(await store.save({ a: "A" })).toEqual({ problem: null, omitted: 0 });
});

test("an archive that a crash left before it was the current one is never read, and is removed with the next change", async () => {
  await using store = await openStore();
  await store.save({ a: "A" });
  const { fencingToken } = (await store.records.acquire(store.id))!;
  await store.objects.put(store.bucket, keyOf(fencingToken), Buffer.from("left by a crash"));
  await store.expireLease();
  expect(await store.listPaths()).toEqual(["a"]);
  await store.save({ b: "B" });
  expect(await store.listPaths()).toEqual(["b"]);
  expect(await store.listKeys()).toHaveLength(1);
});

test("in a restored backup, a newer archive than that of the row has the files, and can be replaced", async () => {
  await using store = await openStore();
  await store.save({ old: "" });
  const row = await store.orm.em.fork().execute("select archive_key, bytes from agent_workspaces");
  await store.save({ newer: "" });
  await store.orm.em.fork().execute("update agent_workspaces set archive_key = ?, bytes = ?", Object.values(row[0]!));
  expect(await store.listPaths()).toEqual(["newer"]);
  const read = () => store.workspaces.readFile(store.id, "newer", { offset: 0, length: 1 });
  expect((await read())?.bytes).toHaveLength(0);
  await store.save({ newest: "" });
  expect([await store.listPaths(), (await store.listKeys()).length]).toEqual([["newest"], 1]);
});

test("archives without a row are listed for the sweep, and removed", async () => {
  await using store = await openStore();
  await store.objects.put(store.bucket, keyOf(1), Buffer.from("x"));
  await store.objects.put("sources", "a", Buffer.from("x"));
  expect(await store.workspaces.listAll()).toEqual([store.id]);
  await store.workspaces.remove(store.id);
  expect([await store.workspaces.listAll(), await store.objects.listBuckets()]).toEqual([[], ["sources"]]);
});

test("a damaged archive is an error, and clearing removes it", async () => {
  await using store = await openStore();
  await store.save({ a: "A".repeat(100) });
  const [key] = await store.listKeys();
  const archive = (await store.objects.get(store.bucket, key!))!;
  await store.objects.put(store.bucket, key!, archive.subarray(0, archive.length - 10));
  const read = (opened: OpenWorkspace) => Array.fromAsync(opened.read());
  await expect(store.workspaces.open(store.id, { readOnly: true, signal: NEVER }, read)).rejects.toThrow("archive");
  await store.objects.put(store.bucket, key!, Buffer.from("something else"));
  await expect(store.workspaces.list(store.id)).rejects.toThrow("archive");
  expect(await store.workspaces.clear(store.id, null)).toBe(0);
  expect(await store.workspaces.list(store.id)).toEqual({ files: [], folders: 0 });
});
