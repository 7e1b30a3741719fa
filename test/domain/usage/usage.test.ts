import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { Organization } from "../../../domain/organizations/organization.entity.ts";
import { DEFAULT_LIMITS, Plans } from "../../../domain/plans/plans.ts";
import type { Quota } from "../../../domain/ports/counter.ts";
import { limitCalls } from "../../../domain/rate-limits/limit-calls.ts";
import { addRemainingDeploys, limitDeploys } from "../../../domain/rate-limits/limit-deploys.ts";
import { limitRestarts } from "../../../domain/rate-limits/limit-restarts.ts";
import { ServiceError } from "../../../domain/shared/errors.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import { getUsage } from "../../../domain/usage/get-usage.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const free = { ...DEFAULT_LIMITS, apps: 3 };
const team = { ...DEFAULT_LIMITS, apps: 20 };
const PLANS = new Plans({ free, team }, "free");

const usageOf = (orgId: string) => {
  const deps = service().service.parts.service;
  return getUsage({ ...deps, plans: PLANS }, { orgId } as Caller);
};

const deployDeps = () => service().service.parts.service;

/** The quotas of the plan `team`, with what is used. */
const quotasOf = ({ apps, documents, bytes }: { apps: number; documents: number; bytes: number }) => [
  { metric: "apps", used: apps, limit: 20 },
  { metric: "documents", used: documents, limit: 10_000 },
  { metric: "document_bytes", used: bytes, limit: 1024 ** 3 },
  { metric: "builder_tokens", used: 0, limit: 10_000_000 },
];

test("an organization has the limits of its plan, and of the default plan if its plan does not exist", () => {
  for (const [plan, name, limits] of [
    ["team", "team", team],
    ["free", "free", free],
    ["gone", "free", free],
    ["constructor", "free", free],
    [null, "free", free],
    [undefined, "free", free],
  ] as const)
    expect([plan, PLANS.resolveName(plan), PLANS.getLimits(plan)]).toEqual([plan, name, limits]);
  expect(PLANS.defaultPlan).toBe("free");
  expect(() => new Plans({ team }, "free").getLimits("gone")).toThrow("free");
});

test("the smallest bound on storage is that of the plan which allows least", () => {
  const plans = new Plans({ free, tiny: { ...free, storageBytes: 7 }, team }, "free");
  expect([plans.smallestStorageBytes, PLANS.smallestStorageBytes]).toEqual([7, 1024 ** 3]);
});

test("usage shows the plan, the apps that count, all documents, and what remains of the rate limits, without counting itself", async () => {
  const tenant = await service().tenant();
  const { org_id: orgId } = tenant;
  const deploys = { name: "deploy", limit: 5, window_seconds: 300, remaining: 5, reset_seconds: expect.any(Number) };
  const calls = {
    name: "tool_calls",
    limit: 600,
    window_seconds: 60,
    remaining: 600,
    reset_seconds: expect.any(Number),
  };
  const restarts = { ...calls, name: "restarts", limit: 120, remaining: 120 };
  const models = { ...calls, name: "model_calls", limit: 1000, remaining: 1000, window_seconds: 86_400 };
  const tokens = { input: 0, output: 0, cache_read: 0, cache_write: 0, total: 0 };
  const activity = { period: new Date().toISOString().slice(0, 7), deployments: 0, requests: 0, programs: 0, tokens };
  const storage = { limit_bytes_per_app: 1024 ** 3, total_bytes: 0, workspace_bytes: 0, apps: [] };
  const unused = { period: "now", rate_limits: [deploys, restarts, models, calls], activity, storage };
  await service().service.parts.orm.em.fork().nativeUpdate(Organization, { id: orgId }, { plan: "team" });
  expect(await usageOf(orgId)).toEqual({
    ...unused,
    plan: "team",
    quotas: quotasOf({ apps: 0, documents: 0, bytes: 0 }),
  });
  const { callCounter } = service().service.parts.service;
  await limitDeploys(deployDeps(), orgId, () => undefined);
  await limitCalls(callCounter, orgId);
  await limitCalls(callCounter, orgId);
  await service().givenApp(tenant);
  await service().givenApp(tenant, { status: "failed" });
  const project = await tenant.rest.post("/v1/projects", { name: "Acme", kind: "client" });
  await tenant.rest.post("/v1/knowledge/documents", { kind: "faq", content: "One" });
  await tenant.rest.post(`/v1/projects/${String(project.body["project_id"])}/documents`, { content: "Two" });
  expect(await usageOf(orgId)).toEqual({
    plan: "team",
    period: "now",
    // Two words of each document are in its index, with its title: that is more than its text.
    quotas: quotasOf({ apps: 1, documents: 2, bytes: 24 }),
    rate_limits: [{ ...deploys, remaining: 4 }, restarts, models, { ...calls, remaining: 598 }],
    activity,
    storage,
  });
});

test("the sixth deploy within five minutes is rejected, and every attempt reports the limit", async () => {
  const { org_id: orgId } = await service().tenant();
  const reported: number[] = [];
  const deploy = () => limitDeploys(deployDeps(), orgId, ({ remaining }) => void reported.push(remaining));
  for (let remaining = 4; remaining >= 0; remaining -= 1)
    expect(await deploy()).toMatchObject({ allowed: true, remaining });
  const error: unknown = await deploy().catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: "rate_limited",
    message: expect.stringMatching(/^An organization may deploy 5 times in 5 minutes\. Try again in \d+ seconds\.$/),
  });
  expect((error as { retryAfterSeconds: number }).retryAfterSeconds).toBeGreaterThan(200);
  expect(reported).toEqual([4, 3, 2, 1, 0, 0]);
  expect((await limitDeploys(deployDeps(), (await service().tenant()).org_id, () => undefined)).remaining).toBe(4);
});

test("the plan has the deploy limit, and a larger plan applies to the attempts that were counted already", async () => {
  const { org_id: orgId } = await service().tenant({ plan: "slow" });
  const slow = { ...free, deploys: { limit: 1, windowSeconds: 60 } };
  const fast = { ...free, deploys: { limit: 3, windowSeconds: 90 } };
  const plans = new Plans({ slow, fast }, "slow");
  const deploy = () => limitDeploys({ ...deployDeps(), plans }, orgId, () => undefined);
  const refused = (text: RegExp) => ({ code: "rate_limited", message: expect.stringMatching(text) });
  expect(await deploy()).toMatchObject({ remaining: 0, quota: { limit: 1, windowSeconds: 60 } });
  await expect(deploy()).rejects.toMatchObject(refused(/may deploy once in a minute\. Try again in \d+ seconds\./));
  await service().service.parts.orm.em.fork().nativeUpdate(Organization, { id: orgId }, { plan: "fast" });
  expect((await deploy()).remaining).toBe(1);
  expect((await deploy()).remaining).toBe(0);
  await expect(deploy()).rejects.toMatchObject(refused(/may deploy 3 times in 90 seconds\./));
});

test("an organization that has used up its calls is told when to try again", async () => {
  const { org_id: orgId } = await service().tenant();
  const { callCounter } = service().service.parts.service;
  await Promise.all(Array.from({ length: 600 }, () => limitCalls(callCounter, orgId)));
  const error: unknown = await limitCalls(callCounter, orgId).catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: "rate_limited",
    message: expect.stringMatching(/^An organization may make 600 calls in 60 seconds\. Try again in \d+ seconds\.$/),
  });
  expect((error as { retryAfterSeconds: number }).retryAfterSeconds).toBeGreaterThan(30);
});

test("the 121st change of variables or rollback within a minute is rejected, and every request reports the limit", async () => {
  const { counter } = service().service.parts.service;
  const [orgId, other] = [randomUUID(), randomUUID()];
  const reported: [remaining: number, quota: Quota][] = [];
  const restart = (id: string) =>
    limitRestarts(counter, id, (quota, { remaining }) => void reported.push([remaining, quota]));
  for (let n = 0; n < 120; n++) await restart(orgId);
  const error: unknown = await restart(orgId).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "rate_limited", message: expect.stringContaining("120 times in 60 seconds") });
  expect((error as { retryAfterSeconds: number }).retryAfterSeconds).toBeGreaterThan(0);
  const quota = { key: `restarts:${orgId}`, limit: 120, windowSeconds: 60 };
  const remaining = [...Array.from({ length: 120 }, (_, n) => 119 - n), 0];
  expect(reported).toEqual(remaining.map((left) => [left, quota]));
  await restart(other);
  expect(reported.at(-1)?.[0]).toBe(119);
});

test("the error of an attempt to deploy says how many attempts are left", () => {
  for (const [message, shown] of [
    ["Not allowed.", "Not allowed."],
    ["Not allowed", "Not allowed."],
    ["a.b is invalid. Use b.", "a.b is invalid. Use b."],
  ]) {
    const error = addRemainingDeploys(new ServiceError("invalid", message!), {
      allowed: true,
      remaining: 2,
      resetSeconds: 9,
      quota: { key: "deploy", limit: 5, windowSeconds: 300 },
    });
    expect(error.message).toBe(`${shown} This attempt counted: 2 of 5 are left.`);
  }
});
