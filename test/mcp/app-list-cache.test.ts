import { expect, test } from "vitest";
import { App } from "../../domain/apps/app.entity.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();

/** Every app has the same timestamps, so that no timestamp shows a change. */
const MOMENT = new Date("2026-11-20T09:30:00.000Z");

async function connect() {
  const tenant = await service().tenant();
  const gateway = new GatewayClient(service().service.publicUrl, tenant.personal_access_token);
  const listApps = async (input: object = {}) => (await gateway.tool("service_list_apps", input)).structuredContent;
  const names = async () => ((await listApps())["apps"] as { name: string }[]).map(({ name }) => name).toSorted();
  const givenApp = (name: string) => service().givenApp(tenant, { name, createdAt: MOMENT });
  return { tenant, gateway, listApps, names, givenApp };
}

test("service_list_apps shows every change of an app at the next call", async () => {
  const { listApps, givenApp } = await connect();
  const { id } = await givenApp("one");
  expect(await listApps()).toEqual(await listApps());
  for (const statusMessage of ["first", "second"]) {
    await em().nativeUpdate(App, { id }, { statusMessage, updatedAt: MOMENT });
    expect((await listApps())["apps"]).toMatchObject([{ id, status_message: statusMessage }]);
  }
});

test("service_list_apps shows created and deleted apps at the next call", async () => {
  const { tenant, names, givenApp } = await connect();
  expect(await names()).toEqual([]);
  const { id } = await givenApp("one");
  expect(await names()).toEqual(["one"]);
  await em().nativeDelete(App, { id });
  await givenApp("two");
  expect(await names()).toEqual(["two"]);
  await em().nativeDelete(App, { orgId: tenant.org_id });
  expect(await names()).toEqual([]);
});

test("service_list_apps shows whether another page follows as soon as it changes", async () => {
  const { tenant, listApps, givenApp } = await connect();
  const hasNextPage = async () => (await listApps({ limit: 1 }))["next_cursor"] !== null;
  await givenApp("one");
  expect(await hasNextPage()).toBe(false);
  const { id } = await service().givenApp(tenant, { createdAt: new Date(0) });
  expect(await hasNextPage()).toBe(true);
  await em().nativeDelete(App, { id });
  expect(await hasNextPage()).toBe(false);
});

test("concurrent calls of several organizations return each organization's own apps", async () => {
  const callers = [await connect(), await connect(), await connect()];
  for (const [index, { givenApp }] of callers.entries()) await givenApp(`app-${index}`);
  for (let round = 0; round < 2; round++)
    expect(await Promise.all(callers.map(({ names }) => names()))).toEqual([["app-0"], ["app-1"], ["app-2"]]);
});

test("inputs with different limits do not share a cached result", async () => {
  const { listApps, givenApp } = await connect();
  for (const name of ["one", "two", "three"]) await givenApp(name);
  const count = async (limit: number) => ((await listApps({ limit }))["apps"] as object[]).length;
  expect([await count(1), await count(2), await count(3), await count(1)]).toEqual([1, 2, 3, 1]);
});

test("a failed read is reported to its callers and not cached", async () => {
  const { gateway, names, givenApp } = await connect();
  await givenApp("one");
  await em().execute("alter table app_procedures rename to procedures_unavailable");
  try {
    const concurrent = [1, 2].map(() => gateway.tool("service_list_apps"));
    expect((await Promise.all(concurrent)).map(({ isError }) => isError)).toEqual([true, true]);
    const list = await gateway.call("tools/list");
    expect([list.status, list.body.error?.code, list.text.includes("app_procedures")]).toEqual([200, -32_603, false]);
    const lines = service().logged().split("\n");
    expect(lines.filter((line) => line.includes("does not exist") && !line.includes('"tool":'))).toHaveLength(1);
  } finally {
    await em().execute("alter table procedures_unavailable rename to app_procedures");
  }
  expect(await names()).toEqual(["one"]);
  expect((await gateway.tools()).length).toBeGreaterThan(0);
});
