import { expect, test } from "vitest";
import { getDeployment } from "../../../domain/deployments/list-deployments.ts";
import { RetryDeployment } from "../../../domain/deployments/run-deployment.ts";
import { type StartedStep, toStepTimes } from "../../../domain/deployments/step-times.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import { givenQueuedDeployment } from "../../support/builds/given-deployment.ts";
import type { ScriptedSteps } from "../../support/builds/scripted-ports.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();

async function given(steps: ScriptedSteps = {}) {
  const app = await givenQueuedDeployment(service(), steps);
  const caller = { orgId: app.tenant.org_id } as Caller;
  const { db } = service().service.parts;
  const get = () => getDeployment({ db }, caller, { id: app.appId, number: 1 });
  return { ...app, get, names: async () => (await get()).steps.map(({ name }) => name) };
}

test("each step has the times at which it started and finished, and none is missing between them", async () => {
  const app = await given({
    bundle: async ({ onStep }) => {
      await onStep?.("install");
      await onStep?.("bundle");
      return { migrations: [{ name: "1.sql", statements: ["select 1"] }] };
    },
  });
  await app.run();
  const { steps, started_at: startedAt, finished_at: finishedAt } = await app.get();
  const build = ["fetch", "prepare", "install", "bundle", "inspect", "store"];
  expect(steps.map(({ name }) => name)).toEqual([...build, "provision", "migrate", "publish"]);
  for (const [at, step] of steps.entries()) {
    expect(step.finished_at).toBe(steps[at + 1]?.started_at ?? finishedAt);
    expect(step.started_at <= step.finished_at!).toBe(true);
  }
  expect(startedAt! <= steps[0]!.started_at).toBe(true);
});

test("a running deployment shows its current step without an end", async () => {
  let shown: unknown;
  const app = await given({ customize: async () => void (shown = (await app.get()).steps) });
  await app.update({ customization: "make it blue" });
  await app.run();
  expect(shown).toEqual([
    { name: "fetch", started_at: expect.any(String), finished_at: expect.any(String) },
    { name: "customize", started_at: expect.any(String), finished_at: null },
  ]);
});

test("the last step of a deployment that failed is the one that failed", async () => {
  const app = await given({
    bundle: async ({ onStep }) => {
      await onStep?.("build");
      throw new BuildFailure("user", "The build failed.", "Correct it.");
    },
  });
  await app.run();
  const { status, steps, finished_at: finishedAt } = await app.get();
  expect([status, steps.map(({ name }) => name)]).toEqual(["failed", ["fetch", "prepare", "build"]]);
  expect(steps.at(-1)!.finished_at).toBe(finishedAt);
});

test("another attempt records its own steps", async () => {
  let attempt = 0;
  const app = await given({
    bundle: () => {
      if (++attempt === 1) throw new Error("the disk is full");
      return {};
    },
  });
  await expect(app.run()).rejects.toThrow(RetryDeployment);
  expect(await app.names()).toEqual(["fetch", "prepare"]);
  await app.run();
  expect(await app.names()).toEqual(["fetch", "prepare", "inspect", "store", "provision", "publish"]);
});

test("a deployment that goes back to the queue has no steps", async () => {
  const stop = new AbortController();
  const app = await given({
    bundle: () => {
      stop.abort();
      throw new Error("interrupted");
    },
  });
  await app.run(stop.signal);
  expect([(await app.get()).status, await app.names()]).toEqual(["queued", []]);
});

test("a step ends when the next one starts, and the last one with the deployment", () => {
  const steps: StartedStep[] = [
    { name: "fetch", started_at: "2026-11-20T09:30:00.000Z" },
    { name: "build", started_at: "2026-11-20T09:30:01.000Z" },
  ];
  const ends = (end: string | null) => toStepTimes(steps, end).map(({ finished_at: finished }) => finished);
  expect(ends(null)).toEqual(["2026-11-20T09:30:01.000Z", null]);
  expect(ends("2026-11-20T09:30:05.000Z")).toEqual(["2026-11-20T09:30:01.000Z", "2026-11-20T09:30:05.000Z"]);
  expect(toStepTimes(null, null)).toEqual([]);
});
