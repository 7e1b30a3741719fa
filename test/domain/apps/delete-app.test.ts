import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { type DeleteDeps, deleteApp } from "../../../domain/apps/delete-app.ts";
import { hideProcedures } from "../../../domain/procedures/replace-procedures.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import type { Tenant } from "../../support/service/harness.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

// No worker runs, so an app stays until the test removes it.
const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();

const callerOf = ({ org_id: orgId }: Tenant) => ({ orgId }) as Caller;

function dependencies(teardownWaitMs: number): DeleteDeps & { announced: string[] } {
  const { db, deploymentDeps } = service().service.parts;
  const announced: string[] = [];
  const changes = { ...deploymentDeps.changes, announce: (id: string) => void announced.push(id) };
  return {
    em: em(),
    db,
    jobs: deploymentDeps.jobs,
    changes,
    teardownWaitMs,
    hideProcedures,
    announced,
  };
}

const teardownsOf = async (appId: string) => {
  const jobs = await service().service.parts.deploymentDeps.jobs.listWaiting("teardown");
  return jobs.filter((job) => job.appId === appId).length;
};

test("a deletion marks the app, stops its worker, queues the teardown, and reports that it has not finished", async () => {
  const tenant = await service().tenant();
  const { id, fencingToken } = await service().givenApp(tenant);
  const deps = dependencies(50);
  for (let repetition = 0; repetition < 2; repetition += 1)
    await expect(deleteApp(deps, callerOf(tenant), id)).rejects.toMatchObject({ code: "teardown_pending" });
  expect(await em().findOneOrFail(App, { id })).toMatchObject({
    status: "deleting",
    statusMessage: expect.stringContaining("torn down"),
    fencingToken: fencingToken + 1,
  });
  expect(await teardownsOf(id)).toBeGreaterThanOrEqual(1);
  expect(deps.announced).toEqual([tenant.org_id, tenant.org_id]);
});

test("a deletion returns as soon as the teardown has removed the record", async () => {
  const tenant = await service().tenant();
  const [app, other] = [await service().givenApp(tenant), await service().givenApp(tenant)];
  const deleted = deleteApp(dependencies(60_000), callerOf(tenant), app.id);
  await expect.poll(() => teardownsOf(app.id)).toBe(1);
  await em().nativeDelete(App, { id: app.id });
  expect(await deleted).toEqual({ status: "deleted" });
  expect(await em().findOneOrFail(App, { id: other.id })).toMatchObject({ status: "ready" });
});

test("404 for an app of another organization, which stays unchanged", async () => {
  const [tenant, other] = [await service().tenant(), await service().tenant()];
  const { id } = await service().givenApp(other);
  for (const appId of [id, randomUUID()])
    await expect(deleteApp(dependencies(0), callerOf(tenant), appId)).rejects.toMatchObject({ code: "not_found" });
  expect(await em().findOneOrFail(App, { id })).toMatchObject({ status: "ready" });
  expect(await teardownsOf(id)).toBe(0);
});
