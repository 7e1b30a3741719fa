import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { openLocalSupervisor } from "../../support/edge/local-supervisor.ts";
import { eventually } from "../../support/edge/test-platform.ts";

const STORAGE = { bindings: [{ type: "kv_namespace", name: "KV", namespace_id: "notes" }] };
const never = new AbortController().signal;

test("a restart replaces the process only if it lacks the newest variables", async () => {
  await using local = await openLocalSupervisor();
  await local.supervisor.restart("shop", never);
  await local.publish("shop");
  await local.supervisor.restart("shop", never);
  expect(local.processes).toHaveLength(1);
  local.variables.set("app-shop", { KEY: "one" });
  await local.supervisor.restart("shop", never);
  await local.supervisor.restart("shop", never);
  expect(local.processes.map(({ isStopped }) => isStopped)).toEqual([true, false]);
  expect(JSON.stringify(local.processes[1]!.launch.worker)).toContain('"one"');
});

test("a restart of an app with storage tries the new variables first, and keeps the process if they do not work", async () => {
  await using local = await openLocalSupervisor();
  await local.publish("shop", STORAGE);
  local.variables.set("app-shop", { KEY: "one" });
  await local.supervisor.restart("shop", never);
  expect(local.processes.map(({ isStopped }) => isStopped)).toEqual([true, true, false]);
  expect(local.processes[1]!.launch.storageDirectory).toBeNull();
  local.variables.set("app-shop", { KEY: "two" });
  local.beforeLaunch = () => Promise.reject(new Error("broken"));
  await expect(local.supervisor.restart("shop", never)).rejects.toThrow("broken");
  expect([local.processes[2]!.isStopped, local.supervisor.active]).toEqual([false, ["shop"]]);
});

test("a restart leaves an app alone that failed meanwhile, and removes its new process", async () => {
  await using local = await openLocalSupervisor();
  await local.publish("shop");
  local.variables.set("app-shop", { KEY: "one" });
  local.beforeLaunch = async () => {
    local.processes[0]!.crash();
    await sleep(5);
  };
  await local.supervisor.restart("shop", never);
  expect([local.processes.map(({ isStopped }) => isStopped), local.supervisor.active]).toEqual([[true, true], []]);
});

test("a restart that is aborted changes nothing", async () => {
  await using local = await openLocalSupervisor();
  await local.publish("shop");
  local.variables.set("app-shop", { KEY: "one" });
  await expect(local.supervisor.restart("shop", AbortSignal.abort(new Error("aborted")))).rejects.toThrow("aborted");
  expect(local.processes).toHaveLength(1);
});

test("an app that failed repeatedly starts at once after a restart", async () => {
  await using local = await openLocalSupervisor();
  await local.publish("shop");
  for (let count = 1; count <= 3; count++) {
    await local.supervisor.acquire("shop", false);
    local.processes.at(-1)!.crash();
    await eventually(() => (local.supervisor.active.length === 0 ? true : undefined));
  }
  await expect(local.supervisor.acquire("shop", false)).rejects.toThrow("repeatedly");
  await local.supervisor.restart("shop", never);
  expect(await local.supervisor.acquire("shop", false)).not.toBeNull();
});

test("an app is stopped at once for the removal of its files, and cannot start before it has ended", async () => {
  await using local = await openLocalSupervisor();
  const version = await local.publish("shop");
  await local.supervisor.acquire("shop", false);
  let acquired: unknown = "waiting";
  const removal = local.supervisor.withAppStopped("shop", async () => {
    expect(local.processes[0]!.isStopped).toBe(true);
    void local.supervisor.acquire("shop", false).then((app) => (acquired = app));
    await sleep(30);
    expect(acquired).toBe("waiting");
    await local.store.remove(version.slug);
  });
  await removal;
  await eventually(() => (acquired === null ? true : undefined));
  await local.supervisor.withAppStopped("absent", async () => undefined);
});

test("a database is closed with every app that uses it, and with no other", async () => {
  await using local = await openLocalSupervisor();
  await local.publish("shop");
  await local.publish("twin", { databaseId: "db-shop" });
  await local.publish("other");
  expect(await local.supervisor.withDatabaseClosed("db-shop", async () => local.supervisor.active)).toEqual(["other"]);
});

test("after the supervisor has closed, no process runs or starts", async () => {
  await using local = await openLocalSupervisor();
  await local.publish("shop");
  await local.publish("other");
  await local.supervisor.acquire("shop", false);
  await local.supervisor.close();
  expect([local.supervisor.active, local.processes.map(({ isStopped }) => isStopped)]).toEqual([[], [true, true]]);
  await expect(local.supervisor.acquire("shop", false)).rejects.toMatchObject({
    message: expect.stringContaining("restarting"),
    retryAfterSeconds: 5,
  });
  await expect(local.publish("shop", { generation: 2 })).rejects.toThrow("closing");
});
