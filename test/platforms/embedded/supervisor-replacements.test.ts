import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { openLocalSupervisor } from "../../support/edge/local-supervisor.ts";
import { eventually } from "../../support/edge/test-platform.ts";

const STORAGE = { bindings: [{ type: "kv_namespace", name: "KV", namespace_id: "notes" }] };
const never = new AbortController().signal;

test("a version without storage is started once, beside the process that it replaces", async () => {
  await using local = await openLocalSupervisor();
  await local.publish("shop");
  const wasServing: boolean[] = [];
  local.beforeLaunch = async () => void wasServing.push(!local.processes[0]!.isStopped);
  await local.publish("shop", {
    generation: 2,
    verify: async () => void wasServing.push(!local.processes[0]!.isStopped),
  });
  expect([wasServing, local.processes.map(({ isStopped }) => isStopped)]).toEqual([
    [true, false],
    [true, false],
  ]);
  expect((await local.supervisor.acquire("shop", false))?.address).toEqual({ host: "127.0.0.1", port: 10_001 });
});

test("a version with storage is tried with temporary storage, and started when the old process has stopped", async () => {
  await using local = await openLocalSupervisor();
  const assets = { directory: import.meta.dirname, rules: {} };
  await local.publish("shop", { ...STORAGE, assets });
  const wasServing: boolean[] = [];
  local.beforeLaunch = async () => void wasServing.push(!local.processes[0]!.isStopped);
  local.variables.set("app-shop", { KEY: "a secret value" });
  const version = await local.publish("shop", { ...STORAGE, assets, generation: 2 });
  expect([wasServing, local.processes.map(({ isStopped }) => isStopped)]).toEqual([
    [true, false],
    [true, true, false],
  ]);
  const [, tried, started] = local.processes.map(({ launch }) => launch);
  const assetsDirectory = version.assets!.directory;
  expect(tried).toMatchObject({ storageDirectory: null, databaseDirectory: null, assetsDirectory });
  expect(started).toMatchObject({ storageDirectory: version.storageDirectory, assetsDirectory });
  for (const launch of [tried!, started!]) expect(launch.masks).toContain("a secret value");
});

test("a first version is not tried before it is started", async () => {
  await using local = await openLocalSupervisor();
  await local.publish("shop", STORAGE);
  expect(local.processes).toHaveLength(1);
});

test("a version that does not start or is not verified leaves no process, and the old one serves", async () => {
  await using local = await openLocalSupervisor();
  await local.publish("shop");
  local.beforeLaunch = () => Promise.reject(new Error("no start"));
  await expect(local.publish("shop", { generation: 2 })).rejects.toThrow("no start");
  expect([local.processes.map(({ isStopped }) => isStopped), local.supervisor.active]).toEqual([[false], ["shop"]]);
  local.beforeLaunch = async () => undefined;
  const verify = () => Promise.reject(new Error("unhealthy"));
  await expect(local.publish("shop", { generation: 2, verify })).rejects.toThrow("unhealthy");
  expect(local.processes.map(({ isStopped }) => isStopped)).toEqual([true, true]);
  const { appId } = (await local.supervisor.acquire("shop", false))!;
  expect([appId, local.log.at(-1)]).toEqual(["app-shop", expect.objectContaining({ generation: 1 })]);
});

test("a publication that is aborted stops no process", async () => {
  await using local = await openLocalSupervisor();
  await local.publish("shop");
  const caller = new AbortController();
  local.beforeLaunch = async () => caller.abort(new Error("aborted"));
  await expect(local.publish("shop", { generation: 2, signal: caller.signal })).rejects.toThrow("aborted");
  await expect(local.publish("shop", { ...STORAGE, generation: 2, signal: caller.signal })).rejects.toThrow("aborted");
  expect([local.processes[0]!.isStopped, local.supervisor.active]).toEqual([false, ["shop"]]);
});

test("a binding with the name of a variable prevents a publication and a restart", async () => {
  await using local = await openLocalSupervisor();
  await local.publish("shop", STORAGE);
  local.variables.set("app-shop", { KV: "x" });
  await expect(local.publish("shop", { ...STORAGE, generation: 2 })).rejects.toThrow('"KV"');
  await expect(local.supervisor.restart("shop", never)).rejects.toThrow('"KV"');
  expect([local.processes.length, local.processes[0]!.isStopped]).toEqual([1, false]);
});

test("a publication waits for requests in flight, for a limited time", async () => {
  await using local = await openLocalSupervisor({ drainMs: 60_000 });
  await local.publish("shop");
  const app = await local.supervisor.acquire("shop", false);
  const other = await local.supervisor.acquire("shop", false);
  const publication = local.publish("shop", { generation: 2 });
  await eventually(() => (local.supervisor.active.length === 0 ? true : undefined));
  app!.release();
  app!.release();
  await sleep(30);
  expect(local.processes[0]!.isStopped).toBe(false);
  other!.release();
  await publication;
  expect(local.processes[0]!.isStopped).toBe(true);
  await using impatient = await openLocalSupervisor({ drainMs: 10 });
  await impatient.publish("shop");
  await impatient.supervisor.acquire("shop", false);
  await impatient.publish("shop", { generation: 2 });
  expect(impatient.processes[0]!.isStopped).toBe(true);
});

test("an app without a request in flight is replaced at once", async () => {
  await using local = await openLocalSupervisor({ drainMs: 1e9 });
  await local.publish("shop");
  await local.publish("shop", { generation: 2 });
  expect(local.processes.map(({ isStopped }) => isStopped)).toEqual([true, false]);
});

test("versions at one slug that share a database, or replace another database, never overlap", async () => {
  await using local = await openLocalSupervisor();
  const running = () => local.processes.filter(({ isStopped }) => !isStopped).length;
  await local.publish("shop");
  let release = () => undefined as void;
  const gate = new Promise<void>((resolve) => (release = resolve));
  const verify = () => gate;
  const publication = local.publish("shop", { appId: "app-2", databaseId: "db-2", generation: 1, verify });
  await eventually(() => (local.processes[0]!.isStopped ? true : undefined));
  let closed = 0;
  const work = async () => {
    closed++;
    return running();
  };
  const works = ["db-shop", "db-2"].map((id) => local.supervisor.withDatabaseClosed(id, work));
  await sleep(20);
  expect(closed).toBe(0);
  release();
  await publication;
  expect(await Promise.all(works)).toEqual([1, 0]);
});
