import { readdir } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { ScriptStore } from "../../../server/platforms/embedded/scripts/script-store.ts";
import { writeUploadForm } from "../../support/edge/upload-form.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { unusedUnpack } from "../../support/edge/local-supervisor.ts";

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

async function openStore() {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryFolder());
  const root = path.join(folder.path, "edge");
  const store = new ScriptStore(root, unusedUnpack);
  await store.open();
  const scriptPath = await writeUploadForm(path.join(folder.path, "bundle.form"), "export default {}");
  const stack = opening.move();
  return {
    stage: (generation: number) =>
      store.stage(
        "shop",
        { appId: "app-1", generation, code: { runtime: "worker", scriptPath }, assets: null, databaseId: "db-1" },
        new AbortController().signal,
      ),
    live: store.live.bind(store),
    commit: store.commit.bind(store),
    discard: store.discard.bind(store),
    list: store.list.bind(store),
    remove: store.remove.bind(store),
    versions: async () => (await readdir(path.join(root, "scripts", "shop", "app-1", "versions"))).length,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
