import { expect, test } from "vitest";
import type { App } from "../../../domain/apps/app.entity.ts";
import { LeaseLost } from "../../../domain/deployments/lease.ts";
import { failDeployment, finishDeployment } from "../../../domain/deployments/finish-deployment.ts";
import { tearDownApp } from "../../../domain/deployments/tear-down-app.ts";
import { DISCOVERY_CAPS, type DiscoveredProcedure } from "../../../domain/ports/procedure-discovery.ts";
import { listProcedures, NO_LIVE_APPS } from "../../../domain/procedures/list-procedures.ts";
import { replaceProcedures } from "../../../domain/procedures/replace-procedures.ts";
import { claimedDeployment, newestDeployment } from "../../support/service/given-app.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const deps = () => service().service.parts.deploymentDeps;
const em = () => deps().em.fork();
const readProcedures = async (orgId: string) => (await listProcedures(service().service.parts.db, orgId)).value;

const procedure = (name: string): DiscoveredProcedure => ({
  name,
  kind: "mutation",
  description: "Does it.",
  inputSchema: { type: "object", properties: { zeta: {}, a: { type: "string" }, beta: {} }, required: ["a"] },
  outputSchema: null,
  invocation: { via: "trpc", endpoint: "/trpc", transformer: "superjson" },
});

async function givenApp(status: App["status"], names: string[] = []) {
  const tenant = await service().tenant();
  const app = await service().givenApp(tenant, { status });
  await em().transactional((tx) => replaceProcedures(tx, newestDeployment(app), names.map(procedure)));
  return app;
}

test("a stored procedure equals the discovered one, with its properties in the app's order", async () => {
  const app = await givenApp("ready", ["a.create"]);
  const [stored] = await readProcedures(app.orgId);
  expect(stored).toMatchObject({ appId: app.id, app: app.name, slug: app.slug, ...procedure("a.create") });
  expect(JSON.stringify(stored?.inputSchema)).toBe(JSON.stringify(procedure("").inputSchema));
});

test("the procedures of a deployment appear when it becomes ready, and replace all earlier ones", async () => {
  const app = await givenApp("provisioning", ["old", "kept"]);
  expect(await readProcedures(app.orgId)).toEqual([]);
  await finishDeployment(deps(), claimedDeployment(app), {
    procedures: [procedure("kept"), procedure("new")],
    statusMessage: null,
    artifactKey: null,
    framework: null,
  });
  expect((await readProcedures(app.orgId)).map(({ name }) => name)).toEqual(["kept", "new"]);
});

test("a worker that lost its lease leaves the procedures as they are", async () => {
  const app = await givenApp("provisioning", ["old"]);
  const late = { ...claimedDeployment(app), fencingToken: app.fencingToken - 1 };
  const result = { procedures: [procedure("new")], statusMessage: null, artifactKey: null, framework: null };
  await expect(finishDeployment(deps(), late, result)).rejects.toBeInstanceOf(LeaseLost);
  await finishDeployment(deps(), claimedDeployment(app), { ...result, procedures: [procedure("mine")] });
  expect((await readProcedures(app.orgId)).map(({ name }) => name)).toEqual(["mine"]);
});

test("the procedures of a failed deployment or a deleted app are removed", async () => {
  const count = async (app: App) =>
    (await em()
      .getConnection()
      .execute("select count(*)::int as n from app_procedures where app_id = ?", [app.id])) as { n: number }[];
  const failed = await givenApp("provisioning", ["a"]);
  await failDeployment(deps(), claimedDeployment(failed), { error: "no", statusMessage: "no" });
  const deleted = await givenApp("deleting", ["a"]);
  expect([await count(deleted), await readProcedures(deleted.orgId)]).toEqual([[{ n: 1 }], []]);
  await tearDownApp(deps(), deleted.id);
  expect([await count(failed), await count(deleted)]).toEqual([[{ n: 0 }], [{ n: 0 }]]);
});

test("a live app without procedures has a version, and no procedures", async () => {
  const app = await givenApp("ready");
  const { version, value } = await listProcedures(service().service.parts.db, app.orgId);
  expect([value, version === NO_LIVE_APPS]).toEqual([[], false]);
  const { org_id: empty } = await service().tenant();
  expect(await listProcedures(service().service.parts.db, empty)).toMatchObject({ version: NO_LIVE_APPS, value: [] });
});

test("an organization reads only the procedures of its own apps", async () => {
  const mine = await givenApp("ready", ["mine"]);
  const theirs = await givenApp("ready", ["theirs"]);
  expect((await readProcedures(mine.orgId)).map(({ name }) => name)).toEqual(["mine"]);
  expect((await readProcedures(theirs.orgId)).map(({ name }) => name)).toEqual(["theirs"]);
});

test("the largest allowed number and size of procedures can be stored", async () => {
  const app = await givenApp("ready");
  const { procedures: count, totalBytes } = DISCOVERY_CAPS;
  const inputSchema = { description: "x".repeat(Math.floor(totalBytes / count)) };
  const many = Array.from({ length: count }, (_, at) => ({ ...procedure(`p${at}`), inputSchema }));
  await em().transactional((tx) => replaceProcedures(tx, newestDeployment(app), many));
  expect(await readProcedures(app.orgId)).toHaveLength(count);
});
