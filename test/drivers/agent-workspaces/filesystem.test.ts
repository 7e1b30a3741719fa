import { randomBytes, randomUUID } from "node:crypto";
import { mkdir, readdir, rm, stat, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { WorkspaceInUse } from "../../../domain/ports/agent-workspaces.ts";
import { FilesystemAgentWorkspaces } from "../../../server/drivers/agent-workspaces/filesystem.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const NEVER = new AbortController().signal;

async function openStore() {
  const temporary = await temporaryFolder();
  const root = path.join(temporary.path, "workspaces");
  const workspaces = await FilesystemAgentWorkspaces.open(root, { clearWaitMs: 50 });
  const id = { orgId: randomUUID(), agentId: randomUUID() };
  const archive = path.join(root, id.orgId, id.agentId);
  /** Replaces the files, as a program does. */
  const save = async (files: Record<string, string | Buffer>) => {
    const folder = path.join(temporary.path, randomUUID());
    for (const [name, content] of Object.entries(files)) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
      await writeFile(path.join(folder, name), content);
    }
    await mkdir(folder, { recursive: true });
    const saved = await workspaces.open(id, { readOnly: false, signal: NEVER }, (opened) => opened.save(folder));
    expect(saved).toEqual({ problem: null, omitted: 0 });
    return folder;
  };
  const readAll = async () => {
    const part = await workspaces.open(id, { readOnly: true, signal: NEVER }, (opened) =>
      Array.fromAsync(opened.read()),
    );
    return Buffer.concat(part);
  };
  return { ...temporary, root, workspaces, id, archive, save, readAll };
}

test("what is read is the index and the contents in its order, also of files of several megabytes", async () => {
  await using store = await openStore();
  const large = randomBytes(3_000_000);
  await store.save({ "b/large": large, a: "A", c: "" });
  const all = await store.readAll();
  const end = all.indexOf(10);
  expect(JSON.parse(all.subarray(0, end).toString())).toEqual([
    ["a", 1, expect.any(Number)],
    ["b", null, 0],
    ["b/large", 3_000_000, expect.any(Number)],
    ["c", 0, expect.any(Number)],
  ]);
  expect(all.subarray(end + 1).equals(Buffer.concat([Buffer.from("A"), large]))).toBe(true);
  const part = await store.workspaces.readFile(store.id, "b/large", { offset: 2_999_990, length: 100 });
  expect(Buffer.from(part?.bytes ?? []).equals(large.subarray(2_999_990))).toBe(true);
});

test("files that have not changed are not written again", async () => {
  await using store = await openStore();
  const folder = await store.save({ a: "A", large: randomBytes(2_000_000) });
  const { ino } = await stat(store.archive);
  await store.workspaces.open(store.id, { readOnly: false, signal: NEVER }, (opened) => opened.save(folder));
  expect((await stat(store.archive)).ino).toBe(ino);
  await writeFile(path.join(folder, "a"), "B");
  await store.workspaces.open(store.id, { readOnly: false, signal: NEVER }, (opened) => opened.save(folder));
  expect((await stat(store.archive)).ino).not.toBe(ino);
  expect(await readdir(path.join(store.root, ".drafts"))).toEqual([]);
});

test("an archive without files is removed, and one that a killed process left unfinished is removed at the next start", async () => {
  await using store = await openStore();
  await store.save({ a: "A" });
  await store.save({});
  await expect(stat(store.archive)).rejects.toThrow("ENOENT");
  await writeFile(path.join(store.root, ".drafts", "unfinished"), "x");
  await FilesystemAgentWorkspaces.open(store.root);
  expect(await readdir(path.join(store.root, ".drafts"))).toEqual([]);
});

test("files and folders are removed from the archive, and the others stay readable", async () => {
  await using store = await openStore();
  const large = randomBytes(1_500_000);
  await store.save({ a: "A", "b/c": "C", "b/d/e": large, bc: "BC", "z/large": large });
  expect(await store.workspaces.clear(store.id, "b")).toBe(2);
  expect(await store.workspaces.clear(store.id, "b")).toBeNull();
  expect(await store.workspaces.list(store.id)).toMatchObject({
    files: [{ path: "a" }, { path: "bc" }, { path: "z/large" }],
  });
  const part = await store.workspaces.readFile(store.id, "z/large", { offset: 0, length: 2_000_000 });
  expect(Buffer.from(part?.bytes ?? []).equals(large)).toBe(true);
  expect(await store.workspaces.clear(store.id, null)).toBe(3);
  expect(await store.workspaces.list(store.id)).toEqual({ files: [], folders: 0 });
});

test("a workspace that a program uses is not cleared, and its files stay readable meanwhile", async () => {
  await using store = await openStore();
  await store.save({ a: "A" });
  const proceed = Promise.withResolvers<void>();
  const running = store.workspaces.open(store.id, { readOnly: false, signal: NEVER }, () => proceed.promise);
  await expect(store.workspaces.clear(store.id, null)).rejects.toThrow(WorkspaceInUse);
  expect((await store.workspaces.list(store.id)).files).toHaveLength(1);
  proceed.resolve();
  await running;
  expect(await store.workspaces.clear(store.id, "a")).toBe(1);
});

test("a program that runs while its workspace is removed cannot save it, and a program of a later call can", async () => {
  await using store = await openStore();
  const folder = await store.save({ a: "A" });
  const use = () =>
    store.workspaces.open(store.id, { readOnly: false, signal: NEVER }, (opened) => opened.save(folder));
  const saved = await store.workspaces.open(store.id, { readOnly: false, signal: NEVER }, async (opened) => {
    await store.workspaces.remove(store.id);
    return await opened.save(folder);
  });
  expect(saved).toEqual({ problem: "The agent was deleted.", omitted: 0 });
  expect(await store.workspaces.listAll()).toEqual([]);
  await store.workspaces.remove(store.id);
  expect(await use()).toEqual({ problem: null, omitted: 0 });
  expect(await store.workspaces.listAll()).toEqual([store.id]);
});

test("the size of an organization's workspaces is that of their archives", async () => {
  await using store = await openStore();
  expect(await store.workspaces.measure(store.id.orgId)).toBe(0);
  await store.save({ a: "A".repeat(5000) });
  expect(await store.workspaces.measure(store.id.orgId)).toBe((await stat(store.archive)).size);
  expect(await store.workspaces.measure(randomUUID())).toBe(0);
});

test("a damaged archive is an error, and clearing removes it", async () => {
  await using store = await openStore();
  await store.save({ a: "A".repeat(100) });
  await truncate(store.archive, 120);
  await expect(store.readAll()).rejects.toThrow("archive");
  await writeFile(store.archive, "something else");
  await expect(store.workspaces.list(store.id)).rejects.toThrow("archive");
  expect(await store.workspaces.clear(store.id, null)).toBe(0);
  expect(await store.workspaces.list(store.id)).toEqual({ files: [], folders: 0 });
});

test("an id that is not a UUID never becomes a path", async () => {
  await using store = await openStore();
  for (const agentId of ["..", "../../x", "", "x/y"])
    await expect(store.workspaces.list({ orgId: store.id.orgId, agentId })).rejects.toThrow("UUID");
  await rm(store.root, { recursive: true });
});
