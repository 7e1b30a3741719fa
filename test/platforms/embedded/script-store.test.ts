import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { ScriptStore } from "../../../server/platforms/embedded/scripts/script-store.ts";
import { writeUploadForm } from "../../support/edge/upload-form.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

test("an interrupted publication is not live, is listed, and can be removed", async () => {
  await using store = await openStore();
  await store.stage(1);
  expect([await store.live("shop"), await store.list()]).toEqual([null, [{ slug: "shop", appId: "app-1" }]]);
  await store.remove("shop");
  expect(await store.list()).toEqual([]);
});

test("the next publication removes the remains of an interrupted one, and the live version stays", async () => {
  await using store = await openStore();
  const live = await store.stage(1);
  await store.commit(live);
  await store.stage(2);
  await store.commit(await store.stage(3));
  expect([(await store.live("shop"))?.generation, await store.versions()]).toEqual([3, 1]);
});

test("discarding a live version keeps it live", async () => {
  await using store = await openStore();
  const live = await store.stage(1);
  await store.commit(live);
  await store.discard(live);
  expect((await store.live("shop"))?.name).toBe(live.name);
});

const layers = (...digests: string[]) => digests.map((digest) => ({ digest, path: `/archives/${digest}` }));

test("versions of a Node server share the layers that they have in common", async () => {
  await using store = await openStore();
  await store.commit(await store.stageServer(1, layers("packages", "files-1")));
  const second = await store.stageServer(2, layers("packages", "files-2"));
  expect(store.unpacked).toEqual(["packages", "files-1", "files-2"]);
  expect(await store.layers()).toEqual(["files-1", "files-2", "packages"]);
  await store.commit(second);
  expect(await store.layers()).toEqual(["files-2", "packages"]);
  const live = await store.live("shop");
  if (live?.code.runtime !== "node") throw new Error("The live version is not a Node server");
  const files = live.code.server.layers.map(({ directory }) => readFile(path.join(directory, "content"), "utf8"));
  expect(await Promise.all(files)).toEqual(["packages", "files-2"]);
});

test("a layer whose unpacking was interrupted is not used, and is removed", async () => {
  await using store = await openStore();
  await store.commit(await store.stageServer(1, layers("files-1")));
  await expect(store.stageServer(2, layers("packages", "broken"))).rejects.toThrow("The archive is damaged");
  expect((await store.live("shop"))?.generation).toBe(1);
  expect(await store.layers()).toEqual(["files-1", "packages", expect.stringMatching(/^broken\../)].toSorted());
  await store.commit(await store.stageServer(3, layers("packages")));
  expect(await store.layers()).toEqual(["packages"]);
});

test("the layers are removed with the last version that is a Node server, and with the app", async () => {
  await using store = await openStore();
  await store.commit(await store.stageServer(1, layers("files")));
  await store.commit(await store.stage(2));
  expect(await store.layers()).toEqual([]);
  await store.commit(await store.stageServer(3, layers("files")));
  await store.remove("shop");
  expect([await store.list(), await store.live("shop")]).toEqual([[], null]);
});

async function openStore() {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryFolder());
  const root = path.join(folder.path, "edge");
  const unpacked: string[] = [];
  const store = new ScriptStore(root, async (archive, target) => {
    await writeFile(path.join(target, "content"), path.basename(archive));
    if (archive.endsWith("broken")) throw new Error("The archive is damaged");
    unpacked.push(path.basename(archive));
  });
  await store.open();
  const scriptPath = await writeUploadForm(path.join(folder.path, "bundle.form"), "export default {}");
  const stack = opening.move();
  const script = { appId: "app-1", assets: null, databaseId: "db-1" };
  const { signal } = new AbortController();
  return {
    unpacked,
    stageServer: (generation: number, given: { digest: string; path: string }[]) => {
      const server = { command: "node server.js", directory: ".", layers: given };
      return store.stage("shop", { ...script, generation, code: { runtime: "node", server } }, signal);
    },
    layers: async () => (await readdir(path.join(root, "scripts", "shop", "app-1", "layers"))).toSorted(),
    stage: (generation: number) =>
      store.stage("shop", { ...script, generation, code: { runtime: "worker", scriptPath } }, signal),
    live: store.live.bind(store),
    commit: store.commit.bind(store),
    discard: store.discard.bind(store),
    list: store.list.bind(store),
    remove: store.remove.bind(store),
    versions: async () => (await readdir(path.join(root, "scripts", "shop", "app-1", "versions"))).length,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
