import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { UnhealthyScript } from "../../../domain/ports/edge-platform.ts";
import { AppRestricted, AppUnavailable } from "../../../server/platforms/embedded/supervisor/unavailable-app.ts";
import { openLocalSupervisor } from "../../support/edge/local-supervisor.ts";
import { eventually } from "../../support/edge/test-platform.ts";
import type { AcquiredApp } from "../../../server/platforms/embedded/supervisor/running-app.ts";

const portOf = (app: AcquiredApp | null) => (app !== null && "port" in app.address ? app.address.port : null);

const STORAGE = { bindings: [{ type: "kv_namespace", name: "KV", namespace_id: "notes" }] };

test("a slug without an app has no id and no process", async () => {
  await using local = await openLocalSupervisor();
  expect([await local.supervisor.appIdAt("shop"), await local.supervisor.acquire("shop", true)]).toEqual([null, null]);
  expect(local.supervisor.active).toEqual([]);
});

test("a published app runs, and every request gets its process", async () => {
  await using local = await openLocalSupervisor();
  await local.publish("shop");
  expect([local.supervisor.active, local.started, await local.supervisor.appIdAt("shop")]).toEqual([
    ["shop"],
    ["shop"],
    "app-shop",
  ]);
  const acquired = [await local.supervisor.acquire("shop", false), await local.supervisor.acquire("shop", true)];
  expect(acquired.map((app) => [app?.appId, portOf(app)])).toEqual([
    ["app-shop", 10_000],
    ["app-shop", 10_000],
  ]);
  expect(local.log).toEqual([{ message: "app started", slug: "shop", appId: "app-shop", generation: 1 }]);
});

test("a process starts with the folders, the variables and the masks of its app", async () => {
  await using local = await openLocalSupervisor();
  local.variables.set("app-shop", { KEY: "a secret value" });
  const { storageDirectory } = await local.publish("shop", STORAGE);
  const { launch } = local.processes[0]!;
  expect(launch).toMatchObject({
    storageDirectory,
    databaseDirectory: expect.stringMatching(/databases\/db-shop$/),
    assetsDirectory: null,
    masks: expect.arrayContaining(["a secret value"]),
    worker: { name: expect.any(String) },
  });
  expect(JSON.stringify(launch.worker)).toContain("a secret value");
  launch.records?.print([Date.now(), "log", null, "printed a secret value"]);
  const [printed] = await local.runtimeLogs.read({ id: "app-shop", slug: "shop" });
  expect(printed?.message).toBe("printed [masked]");
});

test("simultaneous first requests share one start, and the next one uses the process", async () => {
  await using local = await openLocalSupervisor();
  await local.publish("shop");
  local.processes[0]!.crash();
  await eventually(() => (local.supervisor.active.length === 0 ? true : undefined));
  expect(await local.supervisor.appIdAt("shop")).toBe("app-shop");
  const acquired = await Promise.all([1, 2, 3].map(() => local.supervisor.acquire("shop", false)));
  expect(acquired.map(portOf)).toEqual([10_001, 10_001, 10_001]);
  expect((await local.supervisor.acquire("shop", false))?.address).toEqual({ host: "127.0.0.1", port: 10_001 });
  expect([local.processes.length, local.supervisor.active]).toEqual([2, ["shop"]]);
});

test("an app that crashes is removed, reported and started again by the next request", async () => {
  await using local = await openLocalSupervisor();
  await local.publish("shop");
  const [first] = local.processes;
  first!.crash();
  await eventually(() => (first!.isStopped ? true : undefined));
  expect(local.log.at(-1)).toEqual({
    message: "app process ended",
    slug: "shop",
    appId: "app-shop",
    reason: "crashed",
    lastError: null,
  });
  first!.crash();
  await local.supervisor.acquire("shop", false);
  expect([local.processes.length, local.messages()]).toEqual([2, ["app started", "app process ended", "app started"]]);
  const records = await local.runtimeLogs.read({ id: "app-shop", slug: "shop" });
  expect(records.map(({ message }) => message).join()).toContain("The process of the app ended unexpectedly.");
});

test("a process that the kernel killed for its memory is reported as such", async () => {
  await using local = await openLocalSupervisor();
  await local.publish("shop");
  local.processes[0]!.hasUsedUpMemory = true;
  local.processes[0]!.crash();
  await eventually(() => (local.log.at(-1)?.["reason"] === "memory" ? true : undefined));
  const records = await local.runtimeLogs.read({ id: "app-shop", slug: "shop" });
  expect(records.map(({ message }) => message).join()).toContain("used too much memory");
});

test("an app that fails three times in a row waits before the next start, and a new version does not", async () => {
  await using local = await openLocalSupervisor();
  await local.publish("shop");
  for (let count = 1; count <= 3; count++) {
    await local.supervisor.acquire("shop", false);
    local.processes.at(-1)!.crash();
    await eventually(() => (local.supervisor.active.length === 0 ? true : undefined));
  }
  const refused = local.supervisor.acquire("shop", false);
  await expect(refused).rejects.toMatchObject({ message: expect.stringContaining("repeatedly"), retryAfterSeconds: 1 });
  await expect(refused).rejects.toBeInstanceOf(AppUnavailable);
  await local.publish("shop", { generation: 2 });
  local.processes.at(-1)!.crash();
  await eventually(() => (local.supervisor.active.length === 0 ? true : undefined));
  expect(await local.supervisor.acquire("shop", false)).not.toBeNull();
});

test("an app that does not start is unavailable, with a record for its owner", async () => {
  await using local = await openLocalSupervisor();
  await local.publish("shop");
  local.processes[0]!.crash();
  await eventually(() => (local.supervisor.active.length === 0 ? true : undefined));
  const errors = [new UnhealthyScript("MODE is broken"), new Error("A path of this machine.")];
  local.beforeLaunch = () => Promise.reject(errors.shift()!);
  for (const retryAfterSeconds of [1, 1]) {
    const failure = await local.supervisor.acquire("shop", false).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(AppUnavailable);
    expect(failure).toMatchObject({ message: "The app failed to start.", retryAfterSeconds });
    expect(local.log.at(-1)).toMatchObject({
      message: "app failed to start",
      slug: "shop",
      appId: "app-shop",
      err: (failure as Error).cause,
    });
  }
  await expect(local.supervisor.acquire("shop", false)).rejects.toThrow("repeatedly");
  const texts = (await local.runtimeLogs.read({ id: "app-shop", slug: "shop" })).map(({ message }) => message).join();
  expect([texts.includes("MODE is broken"), texts.includes("A path")]).toEqual([true, false]);
});

test("the least recently used idle process is stopped for a further app", async () => {
  await using local = await openLocalSupervisor({ maxActive: 2 });
  await local.publish("one");
  await local.publish("two");
  (await local.supervisor.acquire("one", false))?.release();
  await local.publish("three");
  expect(local.supervisor.active).toEqual(["one", "three"]);
  (await local.supervisor.acquire("one", false))?.release();
  await local.supervisor.acquire("two", false);
  expect(local.supervisor.active).toEqual(["one", "two"]);
  expect(local.log).toContainEqual({ message: "idle app stopped", slug: "three", appId: "app-three" });
});

test("an app is unavailable while every process has a request", async () => {
  await using local = await openLocalSupervisor({ maxActive: 1 });
  await local.publish("one");
  await local.publish("two");
  const app = await local.supervisor.acquire("two", false);
  await expect(local.supervisor.acquire("one", false)).rejects.toMatchObject({
    message: expect.stringContaining("All processes"),
    retryAfterSeconds: 5,
  });
  expect(local.supervisor.active).toEqual(["two"]);
  app!.release();
  expect((await local.supervisor.acquire("one", false))?.appId).toBe("app-one");
  // A start that was refused does not count any more.
  expect(local.supervisor.active).toEqual(["one"]);
});

test("an idle process of an organization with many is stopped before the only one of another organization", async () => {
  await using local = await openLocalSupervisor({ maxActive: 4 });
  await local.publish("other", { organizationId: "globex" });
  for (const slug of ["one", "two", "three", "four"]) await local.publish(slug, { organizationId: "acme" });
  expect(local.supervisor.active).toEqual(["other", "two", "three", "four"]);
  await local.publish("third", { organizationId: "initech" });
  expect(local.supervisor.active).toEqual(["other", "three", "four", "third"]);
});

test("an organization whose apps are all busy leaves a quarter of the processes to others", async () => {
  await using local = await openLocalSupervisor({ maxActive: 4 });
  const slugs = ["one", "two", "three", "four"];
  for (const slug of slugs) await local.publish(slug, { organizationId: "acme" });
  await local.publish("other", { organizationId: "globex" });
  const acquired = [];
  for (const slug of slugs.slice(0, 3)) acquired.push(await local.supervisor.acquire(slug, false));
  await expect(local.supervisor.acquire("four", false)).rejects.toMatchObject({
    message: expect.stringContaining("The apps of this organization use all processes that it may have."),
    retryAfterSeconds: 5,
  });
  expect((await local.supervisor.acquire("other", false))?.appId).toBe("app-other");
  acquired[0]?.release();
  expect((await local.supervisor.acquire("four", false))?.appId).toBe("app-four");
  expect(local.supervisor.active).toEqual(["other", "two", "three", "four"]);
});

test("the organization of an app is known after a restart of the service", async () => {
  await using local = await openLocalSupervisor();
  await local.publish("shop", { organizationId: "acme" });
  expect((await local.store.live("shop"))?.organizationId).toBe("acme");
});

test("an app that has changed since a request arrived starts in its new version only", async () => {
  await using local = await openLocalSupervisor();
  await local.publish("shop");
  local.processes[0]!.crash();
  await eventually(() => (local.supervisor.active.length === 0 ? true : undefined));
  const publication = local.publish("shop", { generation: 2, verify: async () => sleep(50) });
  const acquired = await local.supervisor.acquire("shop", false);
  await publication;
  expect([acquired?.appId, local.processes.length <= 3, local.supervisor.active]).toEqual(["app-shop", true, ["shop"]]);
});

test("a restricted app serves its owner only if the restriction allows it", async () => {
  await using local = await openLocalSupervisor();
  await local.publish("shop");
  const acquire = (hasToken: boolean) => local.supervisor.acquire("shop", hasToken);
  await local.supervisor.restrict("shop", "app-shop", { message: "Too much.", servesOwner: true });
  expect(local.supervisor.active).toEqual([]);
  await expect(acquire(false)).rejects.toBeInstanceOf(AppRestricted);
  expect(local.supervisor.active).toEqual([]);
  expect(await acquire(true)).not.toBeNull();
  await expect(acquire(false)).rejects.toThrow("Too much.");
  await local.supervisor.restrict("shop", "app-shop", { message: "Too much.", servesOwner: true });
  expect(local.supervisor.active).toEqual(["shop"]);
  await local.supervisor.restrict("shop", "app-shop", null);
  expect([local.supervisor.active, (await acquire(false))?.appId]).toEqual([["shop"], "app-shop"]);
  await local.supervisor.restrict("shop", "app-shop", { message: "All.", servesOwner: false });
  await expect(acquire(true)).rejects.toThrow("All.");
  await local.supervisor.restrict("shop", "app-shop", null);
  expect(await acquire(false)).not.toBeNull();
});

test("a restriction is for one app, and not for another one that is at its slug now", async () => {
  await using local = await openLocalSupervisor();
  await local.publish("shop");
  const restriction = { message: "Too much.", servesOwner: false };
  await local.supervisor.restrict("shop", "app-other", restriction);
  await local.supervisor.restrict("absent", "app-shop", restriction);
  expect([local.supervisor.active, (await local.supervisor.acquire("shop", false))?.appId]).toEqual([
    ["shop"],
    "app-shop",
  ]);
});
