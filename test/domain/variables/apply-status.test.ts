import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import { waitUntilApplied } from "../../../domain/variables/apply-status.ts";
import { listVariables } from "../../../domain/variables/list-variables.ts";
import { VariableCipher } from "../../../domain/variables/variable-cipher.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const db = () => service().service.parts.db;

/** A wait that ends only when the version is applied: the test would exceed its time limit. */
const LONG_MS = 3_600_000;

async function givenApp(changes: Partial<App>) {
  const { id } = await service().givenApp(await service().tenant());
  const em = service().service.parts.orm.em.fork();
  await em.nativeUpdate(App, { id }, { variablesVersion: 5, variablesTriedVersion: 4, ...changes });
  return {
    change: (later: Partial<App>) => em.nativeUpdate(App, { id }, later),
    wait: (version: number, restartWaitMs = LONG_MS) => waitUntilApplied({ db: db(), restartWaitMs }, id, version),
  };
}

test("a call waits until the app runs with its version, or with a later one", async () => {
  const { wait, change } = await givenApp({});
  expect(await wait(4)).toEqual({ is_applied: false, problem: null });
  const waiting = wait(5);
  await change({ variablesTriedVersion: 5 });
  expect(await waiting).toEqual({ is_applied: true, problem: null });
});

test("a call gets the problem of a version that could not be applied", async () => {
  const { wait } = await givenApp({ variablesTriedVersion: 5, variablesProblem: "It does not start." });
  expect(await wait(5)).toEqual({ is_applied: false, problem: "It does not start." });
});

test("a call does not wait for an app without a live deployment, and not longer than it may", async () => {
  expect(await (await givenApp({ liveDeploymentId: null })).wait(5)).toEqual({ is_applied: true, problem: null });
  expect(await (await givenApp({})).wait(5, 1)).toEqual({ is_applied: false, problem: null });
});

test("the variables of an unknown app, and of another organization's app, are not found", async () => {
  const [{ org_id: orgId }, { id }] = [await service().tenant(), await service().givenApp(await service().tenant())];
  const deps = { db: db(), variableCipher: new VariableCipher("x".repeat(32)), restartWaitMs: 0 };
  for (const appId of [id, randomUUID()])
    await expect(listVariables(deps, { orgId } as Caller, appId)).rejects.toMatchObject({ code: "not_found" });
});
