import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { ScriptStore } from "../../../server/platforms/embedded/scripts/script-store.ts";
import { processTree } from "../../../server/sandbox/process-tree.ts";
import { eventually, openTestEdge } from "../../support/edge/test-edge.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { writeUploadForm } from "../../support/edge/upload-form.ts";

const PROCESS = fileURLToPath(import.meta.resolve("../../support/edge/edge-process.ts"));

test("when the service is killed its apps end with it, and the next service finds them with their data", async () => {
  await using folder = await temporaryFolder();
  const root = path.join(folder.path, "edge");
  const service = spawn(process.execPath, [PROCESS, root, "shop"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(service.stdout, "data");
  const pids = await noted(root);
  service.kill("SIGKILL");
  await once(service, "exit");
  await eventually(async () => ((await Promise.all(pids.map(runs))).includes(true) ? undefined : true));
  await using t = await openTestEdge({ root });
  expect([pids.length > 0, (await t.visit("shop")).text]).toEqual([true, "2"]);
});

test("a second service on the same folder is refused", async () => {
  await using t = await openTestEdge();
  await expect(openTestEdge({ root: t.root })).rejects.toThrow(/in use/);
});

test("a publication that was cut short does not answer, is listed, and can be removed", async () => {
  await using store = await openStore();
  await store.stage(1);
  expect([await store.live("shop"), await store.list()]).toEqual([null, [{ slug: "shop", appId: "app-1" }]]);
  await store.remove("shop");
  expect(await store.list()).toEqual([]);
});

test("what a cut-short publication left goes away with the next one, and the live version stays", async () => {
  await using store = await openStore();
  const live = await store.stage(1);
  await store.commit(live);
  await store.stage(2);
  await store.commit(await store.stage(3));
  expect([(await store.live("shop"))?.generation, await store.versions()]).toEqual([3, 1]);
});

test("giving up a version that went live leaves it live", async () => {
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
  const store = new ScriptStore(root);
  await store.open();
  const scriptPath = await writeUploadForm(path.join(folder.path, "bundle.form"), "export default {}");
  const stack = opening.move();
  return {
    stage: (generation: number) =>
      store.stage("shop", { appId: "app-1", generation, scriptPath, assets: null, databaseId: "db-1" }),
    live: store.live.bind(store),
    commit: store.commit.bind(store),
    discard: store.discard.bind(store),
    list: store.list.bind(store),
    remove: store.remove.bind(store),
    versions: async () => (await readdir(path.join(root, "scripts", "shop", "app-1", "versions"))).length,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** All processes of all sandboxes below an edge's folder. */
async function noted(root: string): Promise<number[]> {
  const names = await readdir(path.join(root, "run"));
  const pids = await Promise.all(names.map((name) => readFile(path.join(root, "run", name, "pid"), "utf8")));
  return pids.flatMap((pid) => processTree(Number(pid)));
}

async function runs(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat !== "" && !/\) [ZX]/.test(stat);
}
