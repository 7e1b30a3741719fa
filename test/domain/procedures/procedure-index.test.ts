import { expect, test } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { finishDeployment } from "../../../domain/deployments/finish-deployment.ts";
import type { DiscoveredProcedure } from "../../../domain/ports/procedure-discovery.ts";
import { ProcedureIndex } from "../../../domain/procedures/procedure-index.ts";
import { replaceProcedures } from "../../../domain/procedures/replace-procedures.ts";
import { givenSecondDeployment, newestDeployment } from "../../support/service/given-app.ts";
import type { Tenant } from "../../support/service/harness.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();
const db = () => service().service.parts.db;

const procedure = (name: string): DiscoveredProcedure => ({
  name,
  kind: "query",
  description: "",
  inputSchema: { type: "object" },
  outputSchema: null,
  invocation: { via: "trpc", endpoint: "/trpc", transformer: "none" },
});

/** Every app has the same timestamps, so that no timestamp shows a change. */
const MOMENT = new Date("2026-11-20T09:30:00.000Z");

async function givenApp(tenant: Tenant, name: string): Promise<App> {
  const app = await service().givenApp(tenant, { name, createdAt: MOMENT });
  await em().transactional(async (tx) => {
    await replaceProcedures(tx, newestDeployment(app), [procedure(name)]);
    await tx.nativeUpdate(App, { id: app.id }, { updatedAt: MOMENT });
  });
  return app;
}

async function namesIn(index: ProcedureIndex, { org_id: orgId }: Tenant): Promise<string[]> {
  return (await index.get(orgId)).all.map(({ name }) => name).toSorted();
}

test("the procedures of an organization are read once until they change", async () => {
  const tenant = await service().tenant();
  const index = new ProcedureIndex(db());
  const app = await givenApp(tenant, "one");
  const [first, meanwhile] = await Promise.all([index.get(tenant.org_id), index.get(tenant.org_id)]);
  expect(await index.get(tenant.org_id)).toBe(first);
  expect(meanwhile?.all).toEqual(first?.all);
  await em().nativeUpdate(App, { id: app.id }, { statusMessage: "Something to read" });
  expect(await index.get(tenant.org_id)).toBe(first);
});

test("the index changes when another app replaces a deleted one, even with the same timestamps and the same count", async () => {
  const tenant = await service().tenant();
  const index = new ProcedureIndex(db());
  const gone = await givenApp(tenant, "gone");
  await givenApp(tenant, "stays");
  expect(await namesIn(index, tenant)).toEqual(["gone", "stays"]);
  await em().nativeUpdate(App, { id: gone.id }, { status: "deleting", updatedAt: MOMENT });
  await givenApp(tenant, "came");
  expect(await namesIn(index, tenant)).toEqual(["came", "stays"]);
});

test("the index changes when a deployment replaces an app's procedures, even with the same timestamp", async () => {
  const tenant = await service().tenant();
  const index = new ProcedureIndex(db());
  const app = await givenApp(tenant, "old");
  const second = await givenSecondDeployment(em(), app, "provisioning");
  expect(await namesIn(index, tenant)).toEqual(["old"]);
  const result = { procedures: [procedure("new")], statusMessage: null, artifactKey: null, framework: null };
  await finishDeployment(service().service.parts.deploymentDeps, second, result);
  await em().nativeUpdate(App, { id: app.id }, { updatedAt: MOMENT });
  expect(await namesIn(index, tenant)).toEqual(["new"]);
});

test("the index shows every change, also when one follows another", async () => {
  const tenant = await service().tenant();
  const index = new ProcedureIndex(db());
  const names = ["a", "b", "c", "d"];
  for (const [at, name] of names.entries()) {
    await givenApp(tenant, name);
    for (let read = 0; read < 2; read++) expect(await namesIn(index, tenant)).toEqual(names.slice(0, at + 1));
  }
});

test("the index changes when an app token is rotated, because calls of procedures send it", async () => {
  const tenant = await service().tenant();
  const index = new ProcedureIndex(db());
  const { id } = await givenApp(tenant, "one");
  await index.get(tenant.org_id);
  await em().nativeUpdate(App, { id }, { tokenVersion: 2, updatedAt: MOMENT });
  expect((await index.get(tenant.org_id)).all.map(({ tokenVersion }) => tokenVersion)).toEqual([2]);
});

test("a failed read is not cached", async () => {
  const tenant = await service().tenant();
  const index = new ProcedureIndex(db());
  await givenApp(tenant, "one");
  await em().execute("alter table app_procedures rename to out_of_reach");
  try {
    await expect(index.get(tenant.org_id)).rejects.toThrow("app_procedures");
  } finally {
    await em().execute("alter table out_of_reach rename to app_procedures");
  }
  expect(await namesIn(index, tenant)).toEqual(["one"]);
});
