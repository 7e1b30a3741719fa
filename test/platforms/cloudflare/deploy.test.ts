import { expect, test } from "vitest";
import { appRequest } from "../../support/edge/app-request.ts";
import { API_TOKEN, CloudflareEmulator } from "../../support/cloudflare/emulator.ts";
import { createHarness, type Harness } from "../../support/service/harness.ts";

async function openService(emulator: CloudflareEmulator): Promise<Harness> {
  const config = { cloudflare: emulator.settings, appsDomain: emulator.appsDomain };
  return createHarness({ worker: true, sharesBuilds: true, config });
}

test("the service deploys an app from a repository to Cloudflare, calls it, and removes everything that it created", async () => {
  await using emulator = await CloudflareEmulator.open();
  await using harness = await openService(emulator);
  const tenant = await harness.tenant();
  const deployed = await tenant.rest.deploy({ repo: "examples/invoices" });
  const appId = String(deployed.body["app_id"]);
  const ready = await harness.waitForStatus(tenant, appId);
  expect([ready.body["status"], ready.body["status_message"], ready.body["error"]]).toMatchObject([
    "ready",
    null,
    null,
  ]);
  const { state } = emulator.account;
  // One database names the installation.
  expect([state.scripts.size, state.databases.size]).toEqual([1, 2]);

  const url = String(deployed.body["url"]);
  const call = (headers: Record<string, string>) =>
    appRequest(`${url}/trpc/create`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ customer: "Acme", cents: 1250, due: "2026-12-24" }),
    });
  const token = String(deployed.body["app_token"]);
  expect((await call({ "x-service-auth": "app" })).status).toBe(401);
  expect((await call({ authorization: "Bearer sva_wrong" })).status).toBe(401);
  expect((await call({ authorization: `Bearer ${token}` })).status).toBe(200);
  expect((await appRequest(`${url}/trpc/outstanding`)).text).toContain('"cents":1250');

  const deleted = await tenant.rest.delete(`/v1/apps/${appId}`);
  expect([deleted.status, deleted.body]).toEqual([200, { status: "deleted" }]);
  expect((await appRequest(url)).status).toBe(404);
  // The namespace with the entries of the edge remains, without entries, and the database that names the installation.
  expect([state.scripts.size, state.databases.size, state.buckets.size, state.namespaces.size]).toEqual([0, 1, 0, 1]);
  expect(await harness.service.parts.deploymentDeps.authEntries.list()).toEqual([]);
  expect(await harness.service.parts.deploymentDeps.edge.list()).toEqual([]);
  expect(harness.logged()).not.toContain(API_TOKEN);
});
