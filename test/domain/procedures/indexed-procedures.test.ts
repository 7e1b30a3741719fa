import { expect, test } from "vitest";
import type { App } from "../../../domain/apps/app.entity.ts";
import { deleteApp } from "../../../domain/apps/delete-app.ts";
import { updateApp } from "../../../domain/apps/update-app.ts";
import { finishDeployment } from "../../../domain/deployments/finish-deployment.ts";
import { tearDownApp } from "../../../domain/deployments/tear-down-app.ts";
import type { DiscoveredProcedure } from "../../../domain/ports/procedure-discovery.ts";
import { indexMissingProcedures } from "../../../domain/procedures/index-missing-procedures.ts";
import { procedureScope, readProcedureTexts, toIndexedText } from "../../../domain/procedures/indexed-procedures.ts";
import { listProcedures } from "../../../domain/procedures/list-procedures.ts";
import { searchProcedures } from "../../../domain/procedures/search-procedures.ts";
import { dropScope } from "../../../domain/search/index-texts.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import { explainCall, nodesOf, rowsRead } from "../../support/database/query-plans.ts";
import { discoveredProcedure as procedure, givenProcedures } from "../../support/edge/live-app.ts";
import { TestScope } from "../../support/search/test-scope.ts";
import { claimedDeployment, givenSecondDeployment } from "../../support/service/given-app.ts";
import type { Tenant } from "../../support/service/harness.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const parts = () => service().service.parts;
const em = () => parts().orm.em.fork();
const callerOf = (tenant: Tenant) => ({ orgId: tenant.org_id }) as Caller;

async function givenApp(tenant: Tenant, name: string, procedures: DiscoveredProcedure[]): Promise<App> {
  const app = await service().givenApp(tenant, { name });
  await givenProcedures(service(), app, procedures);
  return app;
}

async function find(tenant: Tenant, query: string): Promise<string[]> {
  const { hits } = await searchProcedures({ db: parts().db }, callerOf(tenant), { query, limit: 50 });
  return hits.map((hit) => hit.procedure).toSorted();
}

/** Checks that the index contains the procedures of the live apps and nothing else. */
async function expectExactIndex({ org_id: orgId }: Tenant): Promise<void> {
  const { value: live } = await listProcedures(parts().db, orgId);
  const fresh = new TestScope(service, { kind: "procedures" });
  await fresh.add(...live.map(toIndexedText));
  const read = async (scope: TestScope) => {
    const { scope: row, postings } = await scope.readRows();
    return [row?.text_count ?? 0, row?.total_length ?? "0", postings.map(({ term, count }) => [term, count])];
  };
  expect(await read(new TestScope(service, procedureScope(orgId)))).toEqual(await read(fresh));
}

const readIndexIds = async (app: App) => {
  const rows = await em().execute<{ name: string; index_id: number | null }[]>(
    "select name, index_id from app_procedures where app_id = ? and deployment_id = (select live_deployment_id from apps where id = ?)",
    [app.id, app.id],
  );
  return new Map(rows.map((row) => [row.name, row.index_id]));
};

test("the texts of an organization's procedures are read page by page, in the order of their index ids", async () => {
  const [tenant, other] = [await service().tenant(), await service().tenant()];
  const procedures = ["invoices.list", "invoices.pay", "invoices.send"].map((name) => procedure(name));
  const app = await givenApp(tenant, "billing", procedures);
  await givenApp(other, "billing", procedures);
  const sorted = [...(await readIndexIds(app))].toSorted(([, a], [, b]) => Number(a) - Number(b));
  const expected = sorted.map(([name, indexId]) => ({
    indexId,
    ...toIndexedText({ ...procedure(name), app: "billing", slug: app.slug }),
  }));
  const read = (from: number, limit: number) =>
    readProcedureTexts(parts().db, procedureScope(tenant.org_id), { from, limit });
  expect(await read(0, 10)).toEqual(expected);
  expect(await read(expected[1]!.indexId!, 1)).toEqual([expected[1]]);
  expect(await read(expected[2]!.indexId! + 1, 10)).toEqual([]);
});

test("a deployment replaces what the search finds; a procedure that has not changed keeps its place in the index", async () => {
  const tenant = await service().tenant();
  const app = await givenApp(tenant, "billing", [procedure("invoices.list"), procedure("invoices.pay")]);
  const before = await readIndexIds(app);
  const second = await givenSecondDeployment(em(), app, "provisioning");
  expect(await find(tenant, "invoices")).toEqual(["invoices.list", "invoices.pay"]);
  const result = { statusMessage: null, artifactKey: null, framework: null };
  await finishDeployment(parts().deploymentDeps, second, {
    ...result,
    procedures: [procedure("invoices.list"), procedure("invoices.send")],
  });
  expect(await find(tenant, "invoices")).toEqual(["invoices.list", "invoices.send"]);
  expect(await find(tenant, "pay")).toEqual([]);
  const after = await readIndexIds(app);
  expect(after.get("invoices.list")).toBe(before.get("invoices.list"));
  expect([...before.values()]).not.toContain(after.get("invoices.send"));
  await expectExactIndex(tenant);
});

test("the procedures of a deployment that is not live are not found", async () => {
  const tenant = await service().tenant();
  const app = await service().givenApp(tenant, { status: "provisioning" });
  await givenProcedures(service(), app, [procedure("invoices.list")]);
  expect(await find(tenant, "invoices")).toEqual([]);
  await finishDeployment(parts().deploymentDeps, claimedDeployment(app), {
    procedures: [procedure("invoices.send")],
    statusMessage: null,
    artifactKey: null,
    framework: null,
  });
  expect(await find(tenant, "invoices")).toEqual(["invoices.send"]);
  await expectExactIndex(tenant);
});

test("an app with a new name is found by it at once, and not by the one before", async () => {
  const tenant = await service().tenant();
  const app = await givenApp(tenant, "demo", [procedure("list"), procedure("create")]);
  const rename = (name: string) => updateApp(parts().service, callerOf(tenant), { id: app.id, name });
  await rename("Warehouse");
  expect(await find(tenant, "warehouse")).toEqual(["create", "list"]);
  await rename("Accounting");
  expect(await find(tenant, "warehouse")).toEqual([]);
  expect(await find(tenant, "accounting")).toEqual(["create", "list"]);
  await expectExactIndex(tenant);
});

test("an app that is being deleted is not found any more, before its teardown and after it", async () => {
  const tenant = await service().tenant();
  const app = await givenApp(tenant, "billing", [procedure("invoices.list")]);
  await givenApp(tenant, "crm", [procedure("invoices.import")]);
  await expect(deleteApp({ ...parts().service, teardownWaitMs: 0 }, callerOf(tenant), app.id)).rejects.toMatchObject({
    code: "teardown_pending",
  });
  expect(await find(tenant, "invoices")).toEqual(["invoices.import"]);
  await expectExactIndex(tenant);
  await tearDownApp(parts().deploymentDeps, app.id);
  expect(await find(tenant, "invoices")).toEqual(["invoices.import"]);
  await expectExactIndex(tenant);
});

test("an app whose deletion an older process has begun is not found", async () => {
  const tenant = await service().tenant();
  const app = await givenApp(tenant, "billing", [procedure("invoices.list")]);
  await em().execute("update apps set status = 'deleting' where id = ?", [app.id]);
  expect(await find(tenant, "invoices")).toEqual([]);
});

test("procedures of an earlier version of the service are indexed once, also by two processes", async () => {
  const tenant = await service().tenant();
  const apps = [];
  for (const name of ["billing", "crm", "shop"])
    apps.push(await givenApp(tenant, name, [procedure(`${name}.list`), procedure(`${name}.create`)]));
  await em().execute("update app_procedures set index_id = null where org_id = ?", [tenant.org_id]);
  await new TestScope(service).transact((tx) => dropScope(tx, procedureScope(tenant.org_id)));
  expect(await find(tenant, "list")).toEqual([]);
  const stopped = new AbortController();
  stopped.abort();
  const errors: unknown[] = [];
  const run = (signal: AbortSignal) =>
    indexMissingProcedures(parts().db, { signal, report: (error) => errors.push(error) });
  await run(stopped.signal);
  expect(await find(tenant, "list")).toEqual([]);
  const { signal } = new AbortController();
  await Promise.all([run(signal), run(signal)]);
  await run(signal);
  expect(errors).toEqual([]);
  expect(await find(tenant, "list")).toEqual(["billing.list", "crm.list", "shop.list"]);
  await expectExactIndex(tenant);
  // A deployment of an older process after that.
  await em().execute("update app_procedures set index_id = null where app_id = ? and name = 'crm.list'", [apps[1]!.id]);
  await run(signal);
  expect(await find(tenant, "crm.list")).toContain("crm.list");
});

test("a search reads rows of the own organization only, by indexes", async () => {
  const [tenant, ...others] = [await service().tenant(), await service().tenant(), await service().tenant()];
  const procedures = Array.from({ length: 60 }, (_, at) => procedure(`invoices.list${at}`));
  const app = await givenApp(tenant, "billing", [...procedures, procedure("invoices.pay")]);
  for (const other of others) await givenApp(other, "billing", [...procedures, procedure("invoices.pay")]);
  // Rows of 5,000 further organizations.
  await em().execute(
    `insert into apps select (jsonb_populate_record(apps, jsonb_build_object('id', gen_random_uuid(), 'slug', 'other-' || n,
       'org_id', gen_random_uuid(), 'live_deployment_id', gen_random_uuid()))).* from apps, generate_series(1, 5000) n where id = ?`,
    [app.id],
  );
  await em().execute(
    `insert into app_procedures (id, app_id, deployment_id, org_id, name, kind, description, input_schema, invocation, index_id)
     select gen_random_uuid(), id, live_deployment_id, org_id, 'invoices.pay' || n, 'query', '', '{}', '{}', n
     from apps, generate_series(1, 4) n where slug like 'other-%'`,
  );
  await em().execute(
    `insert into search_postings (scope_id, term, block, count, data)
     select 1000000 + n, term, 0, 1, '' from generate_series(1, 5000) n, unnest(array['invoic', 'pay', 'list']) term`,
  );
  await em().execute("vacuum analyze search_scopes, search_postings, app_procedures, apps");
  const tables = ["search_postings", "app_procedures", "apps"];
  for (const request of [{ query: "invoices pay" }, { query: "invoices pay", app: app.slug }]) {
    const plans = await explainCall(String(service().config.databaseUrl), tables, () =>
      searchProcedures({ db: parts().db }, callerOf(tenant), { ...request, limit: 10 }),
    );
    const scans = plans.flatMap(nodesOf).filter((node) => tables.includes(node["Relation Name"] ?? ""));
    expect(new Set(scans.map((node) => node["Relation Name"])).size).toBe(3);
    expect(scans.filter((node) => node["Node Type"] === "Seq Scan")).toEqual([]);
    // The postings with the words and those that begin with them, 30 hits, the names of an app, and its 61 ids.
    expect(scans.reduce((sum, node) => sum + rowsRead(node), 0)).toBeLessThanOrEqual(300);
  }
});
