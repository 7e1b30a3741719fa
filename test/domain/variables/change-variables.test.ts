import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { type EdgePlatform, UnhealthyScript } from "../../../domain/ports/edge-platform.ts";
import { UnreadableVariable } from "../../../domain/ports/app-variables.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import { AppVariable } from "../../../domain/variables/app-variable.entity.ts";
import { applyVariables } from "../../../domain/variables/apply-variables.ts";
import { deleteVariable } from "../../../domain/variables/delete-variable.ts";
import { listVariables } from "../../../domain/variables/list-variables.ts";
import { setVariable } from "../../../domain/variables/set-variable.ts";
import { VARIABLE_LIMITS } from "../../../domain/variables/variable-rules.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

// No worker runs, so a test itself applies changes to apps.
const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();

async function givenApp(status: "ready" | "failed" = "ready") {
  const tenant = await service().tenant();
  const { id } = await service().givenApp(tenant, { status });
  const caller = { orgId: tenant.org_id } as Caller;
  const deps = { ...service().service.parts.service, restartWaitMs: 0 };
  return {
    id,
    caller,
    deps,
    set: (name: string, value: string, flags: { secret?: boolean; build?: boolean } = {}, restartWaitMs = 0) =>
      setVariable({ ...deps, restartWaitMs }, caller, { id, name, value, ...flags }),
    remove: (name: string) => deleteVariable(deps, caller, { id, name }),
    list: () => listVariables(deps, caller, id),
    record: () => em().findOneOrFail(App, { id }),
    row: (name: string) => em().findOne(AppVariable, { appId: id, name }),
  };
}

/** The jobs that restart an app. */
const restartsOf = async (appId: string) =>
  (await service().service.parts.deploymentDeps.jobs.listWaiting("variables")).filter((job) => job.appId === appId);

/** Restarts apps as the given function does. */
function apply(appId: string, restart: (slug: string) => Promise<void>): Promise<void> {
  const { edge, variables } = service().service.parts.deploymentDeps;
  const restarting = Object.assign(Object.create(edge) as EdgePlatform, { restart });
  return applyVariables({ em: em(), edge: restarting, variables }, appId, new AbortController().signal);
}

/** How long a call waits for the restart of the app. */
const WAIT_MS = 8000;

/** The result of a call that must not wait until the time is over. */
const soon = <T>(result: Promise<T>) => Promise.race([result, delay(WAIT_MS / 2, "still waiting")]);

test("a change of a live app raises the version, queues a restart, and is not applied yet", async () => {
  const { id, caller, set, remove, record } = await givenApp();
  expect(await set("A", "one")).toMatchObject({ is_applied: false, problem: null });
  const restart = { appId: id, orgId: caller.orgId };
  expect([(await record()).variablesVersion, await restartsOf(id)]).toEqual([1, [restart]]);
  expect(await set("A", "two")).toMatchObject({ is_applied: false });
  expect(await remove("A")).toEqual({ status: "deleted", is_applied: false, problem: null });
  expect((await record()).variablesVersion).toBe(3);
});

test("a change of an app that is not live is applied at once", async () => {
  const { set, remove } = await givenApp("failed");
  expect(await soon(set("A", "one", {}, WAIT_MS))).toMatchObject({ is_applied: true, problem: null });
  expect(await remove("A")).toMatchObject({ is_applied: true });
});

test("a change waits until the app has restarted with it, or until the app is gone", async () => {
  const { id, set } = await givenApp();
  const changed = set("A", "one", {}, WAIT_MS);
  await expect.poll(() => restartsOf(id)).toHaveLength(1);
  await apply(id, async () => undefined);
  expect(await soon(changed)).toMatchObject({ is_applied: true, problem: null });
  const deleted = set("A", "two", {}, WAIT_MS);
  await expect.poll(async () => (await em().findOneOrFail(App, { id })).variablesVersion).toBe(2);
  await em().nativeDelete(App, { id });
  expect(await soon(deleted)).toMatchObject({ is_applied: true, problem: null });
});

test("the same value and flags again change nothing, and any other value or flag is a change", async () => {
  const { set, record, row } = await givenApp("failed");
  const versionAfter = async (...change: Parameters<typeof set>) => {
    await set(...change);
    return (await record()).variablesVersion;
  };
  expect(await versionAfter("A", "one")).toBe(1);
  const first = await row("A");
  expect(await versionAfter("A", "one")).toBe(1);
  expect(await versionAfter("A", "one", { secret: false, build: false })).toBe(1);
  expect(await row("A")).toEqual(first);
  expect(await versionAfter("A", "two")).toBe(2);
  expect(await versionAfter("A", "two", { build: true })).toBe(3);
  expect(await versionAfter("A", "two", { secret: true })).toBe(4);
  expect(await row("A")).toMatchObject({ isSecret: true, isForBuild: true });
  expect(await versionAfter("A", "two", { secret: false })).toBe(5);
  expect(await versionAfter("A", "two", { build: false })).toBe(6);
  expect(await versionAfter("B", "two")).toBe(7);
});

test("a variable has its size in bytes, keeps its creation time, and is shown without the value of a secret", async () => {
  const { set, list, row } = await givenApp("failed");
  const created = await set("NAME", "é", { secret: true, build: true });
  expect(created).toMatchObject({ name: "NAME", value: null, secret: true, build: true });
  expect(await row("NAME")).toMatchObject({ sizeBytes: 6, isSecret: true, isForBuild: true });
  const past = new Date("2026-01-01T00:00:00.000Z");
  await em().nativeUpdate(AppVariable, { name: "NAME" }, { createdAt: past, updatedAt: past });
  const changed = await set("NAME", "plain", { secret: false });
  expect(changed).toMatchObject({ value: "plain", secret: false, created_at: past.toISOString() });
  expect(changed.updated_at > past.toISOString()).toBe(true);
  const { is_applied, problem, ...variable } = changed;
  expect(await list()).toEqual({ variables: [variable], is_applied, problem });
});

test("a rejected variable leaves the others and the version as they were", async () => {
  const { set, remove, record, list } = await givenApp("failed");
  await set("A", "one");
  await expect(set("lower", "x")).rejects.toMatchObject({ code: "invalid" });
  await expect(set("B", "a\0b")).rejects.toMatchObject({ code: "invalid" });
  await expect(remove("B")).rejects.toMatchObject({ code: "not_found" });
  expect([(await record()).variablesVersion, (await list()).variables.map(({ name }) => name)]).toEqual([1, ["A"]]);
});

test("the variables of another organization's app and of an unknown app are not found", async () => {
  const [{ deps, caller }, foreign] = [await givenApp("failed"), await givenApp("failed")];
  await foreign.set("A", "theirs");
  for (const id of [foreign.id, randomUUID()]) {
    await expect(listVariables(deps, caller, id)).rejects.toMatchObject({ code: "not_found" });
    await expect(setVariable(deps, caller, { id, name: "A", value: "mine" })).rejects.toMatchObject({
      code: "not_found",
    });
    await expect(deleteVariable(deps, caller, { id, name: "A" })).rejects.toMatchObject({ code: "not_found" });
  }
  expect((await foreign.list()).variables).toMatchObject([{ name: "A", value: "theirs" }]);
});

test("a value that replaces another one counts instead of it", async () => {
  const { set } = await givenApp("failed");
  const value = "x".repeat(VARIABLE_LIMITS.valueBytes - 2);
  for (let n = 1; n <= 8; n++) await set(`V${n}`, value);
  expect(await set("V1", "y".repeat(value.length))).toMatchObject({ name: "V1" });
  await expect(set("W", "")).rejects.toMatchObject({ code: "invalid" });
});

test("the result of a restart is recorded, and a problem ends with the next successful restart", async () => {
  const { id, set, list, record } = await givenApp();
  await set("API_KEY", "a-secret-value", { secret: true });
  await apply(id, () => Promise.reject(new UnhealthyScript("failed with a-secret-value")));
  expect(await list()).toMatchObject({ is_applied: false, problem: "failed with [masked]" });
  expect(await record()).toMatchObject({ variablesTriedVersion: 1 });
  await apply(id, () => Promise.reject(new UnreadableVariable("API_KEY")));
  expect((await list()).problem).toContain('"API_KEY"');
  const slugs: string[] = [];
  await apply(id, async (slug) => void slugs.push(slug));
  expect([slugs, await list()]).toEqual([
    [(await record()).slug],
    expect.objectContaining({ is_applied: true, problem: null }),
  ]);
});

test("a problem of an earlier version is not shown for a newer one", async () => {
  const { id, set, list } = await givenApp();
  await set("A", "one");
  await apply(id, () => Promise.reject(new UnhealthyScript("broken")));
  await set("A", "two");
  expect(await list()).toMatchObject({ is_applied: false, problem: null });
});

test("a restart that fails for another reason is not recorded, so that it is repeated", async () => {
  const { id, set, record } = await givenApp();
  await set("A", "one");
  await expect(apply(id, () => Promise.reject(new Error("lost")))).rejects.toThrow("lost");
  expect(await record()).toMatchObject({ variablesTriedVersion: 0, variablesProblem: null });
});

test("the result of a slow restart does not replace that of a newer version", async () => {
  const { id, set, record } = await givenApp();
  await set("A", "one");
  await apply(id, async () => {
    await set("A", "two");
    await apply(id, async () => undefined);
    throw new UnhealthyScript("late");
  });
  expect(await record()).toMatchObject({ variablesTriedVersion: 2, variablesProblem: null });
});

test("an app that is gone or is being deleted is not restarted", async () => {
  const { id, set } = await givenApp();
  await set("A", "one");
  let restarts = 0;
  const count = async () => void (restarts += 1);
  await em().nativeUpdate(App, { id }, { status: "deleting" });
  await apply(id, count);
  await em().nativeDelete(App, { id });
  await apply(id, count);
  expect(restarts).toBe(0);
});
