import { randomUUID } from "node:crypto";
import type { EntityManager } from "@mikro-orm/core";
import { expect, test } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { LOG_BUCKET } from "../../../domain/apps/app-resources.ts";
import { Deployment } from "../../../domain/deployments/deployment.entity.ts";
import { removeOldDeployments } from "../../../domain/deployments/remove-old-deployments.ts";
import { Procedure } from "../../../domain/procedures/procedure.entity.ts";
import { replaceProcedures } from "../../../domain/procedures/replace-procedures.ts";
import { discoveredProcedure } from "../../support/edge/live-app.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const deps = () => service().service.parts.deploymentDeps;

/** An app with failed deployments, each with a log. */
async function givenFailedDeployments(count: number) {
  const { id: appId } = await service().givenApp(await service().tenant(), { status: "failed" });
  const em = deps().em.fork();
  const first = await em.findOneOrFail(Deployment, { appId });
  const { orgId, repo, branch } = first;
  for (let number = 2; number <= count; number++) {
    const source = { appId, orgId, repo, branch, number, trigger: "redeploy", status: "failed" } as const;
    em.create(Deployment, { ...source, logKey: `${appId}/${number}.log` });
  }
  await em.flush();
  const all = await em.find(Deployment, { appId }, { orderBy: { number: "asc" } });
  for (const { logKey } of all) await deps().objects.put(LOG_BUCKET, logKey, new Uint8Array());
  return { appId, all, em, remove: () => removeOldDeployments(deps(), appId) };
}

async function givenProcedure(em: EntityManager, { id: deploymentId, appId, orgId }: Deployment): Promise<void> {
  await em
    .fork()
    .transactional(async (tx) => replaceProcedures(tx, { deploymentId, appId, orgId }, [discoveredProcedure("hello")]));
}

async function numbersOf(appId: string): Promise<number[]> {
  const kept = await deps()
    .em.fork()
    .find(Deployment, { appId }, { orderBy: { number: "asc" } });
  return kept.map(({ number }) => number);
}

async function logsOf(appId: string): Promise<number[]> {
  const keys = (await deps().objects.list(LOG_BUCKET)).map(({ key }) => key).filter((key) => key.startsWith(appId));
  return keys.map((key) => Number(key.slice(appId.length + 1).split(".")[0])).toSorted((a, b) => a - b);
}

const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index);

test("the 200 newest deployments of an app stay with their logs, and those that are still needed", async () => {
  const { appId, all, em, remove } = await givenFailedDeployments(310);
  const deployment = (number: number) => all[number - 1]!;
  em.assign(deployment(3), { status: "ready", artifactKey: null });
  em.assign(deployment(4), { status: "superseded", artifactKey: "4.1" });
  em.assign(deployment(5), { status: "building" });
  await em.flush();
  const live = { liveDeploymentId: deployment(3).id, latestDeploymentId: deployment(310).id };
  await em.nativeUpdate(App, { id: appId }, live);
  await givenProcedure(em, all[0]!);
  await givenProcedure(em, all[1]!);
  const foreign = await givenFailedDeployments(1);
  await givenProcedure(em, foreign.all[0]!);
  await remove();
  // One call removes at most 100 deployments, the oldest first.
  expect(await numbersOf(appId)).toEqual([1, 3, 4, 5, ...from(105, 310)]);
  await remove();
  expect(await em.fork().find(Procedure, {}, { orderBy: { appId: "asc" } })).toMatchObject(
    [appId, foreign.appId].toSorted().map((id) => ({ appId: id })),
  );
  const kept = [1, 3, 4, 5, ...from(111, 310)];
  expect(await numbersOf(appId)).toEqual(kept);
  expect(await logsOf(appId)).toEqual(kept);
});

test("nothing is removed for an app that is gone", async () => {
  await expect(removeOldDeployments(deps(), randomUUID())).resolves.toBeUndefined();
});

test("an app with few deployments keeps them all", async () => {
  const { appId, remove } = await givenFailedDeployments(20);
  await remove();
  expect(await numbersOf(appId)).toEqual(from(1, 20));
  expect(await logsOf(appId)).toEqual(from(1, 20));
});
