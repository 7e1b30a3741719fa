import { expect, test } from "vitest";
import { listProcedures } from "../../domain/procedures/list-procedures.ts";
import { appRequest } from "../support/edge/app-request.ts";
import type { Tenant } from "../support/service/harness.ts";
import { repositoriesHarness } from "../support/service/repositories-harness.ts";
import { failing } from "../support/edge/platform-resources.ts";
import { Repository } from "../support/builds/git-repository.ts";

const { harness, repositories } = repositoriesHarness({ sharesBuilds: true });

const callableProcedures = async (tenant: Tenant) =>
  (await listProcedures(harness().service.parts.db, tenant.org_id)).value;

async function deploy(tenant: Tenant, repo: string) {
  const { body } = await tenant.rest.deploy({ repo });
  const id = String(body["app_id"]);
  const { body: app } = await harness().waitForStatus(tenant, id);
  const { body: log } = await tenant.rest.get(`/v1/apps/${id}/logs`);
  return { id, app, logs: String(log["logs"]) };
}

async function deployScript(tenant: Tenant, name: string, script: string) {
  const wrangler = { main: "src/index.ts", d1_databases: [{ binding: "DB", database_name: "db" }] };
  const files = { "src/index.ts": script, "wrangler.json": JSON.stringify({ name, ...wrangler }) };
  await (await Repository.create(repositories(), `acme/${name}`)).commitFiles(files);
  return deploy(tenant, `acme/${name}`);
}

const HELLO = `export default { fetch: () => new Response("hello") };`;

test("a deployment finds and stores the app's procedures, and the deletion of the app removes them", async () => {
  const tenant = await harness().tenant();
  const { id, app, logs } = await deploy(tenant, "examples/invoices");
  expect([app["status"], app["status_message"]]).toEqual(["ready", null]);
  expect(logs).toContain("[service] found 5 procedures (tRPC)\n");
  const procedures = await callableProcedures(tenant);
  const invocation = { via: "trpc", endpoint: "/trpc", transformer: "none" };
  expect(procedures.map(({ appId, name, kind }) => [appId, name, kind])).toEqual(
    [
      ["create", "mutation"],
      ["get", "query"],
      ["list", "query"],
      ["markPaid", "mutation"],
      ["outstanding", "query"],
    ].map((row) => [id, ...row]),
  );
  for (const procedure of procedures) expect(procedure.invocation).toMatchObject(invocation);
  expect(await callableProcedures(await harness().tenant())).toEqual([]);
  expect((await tenant.rest.delete(`/v1/apps/${id}`)).status).toBe(200);
  expect(await callableProcedures(tenant)).toEqual([]);
});

test("the status message counts the operations that are left out, and the build log lists all of them", async () => {
  const tenant = await harness().tenant();
  const heads = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`/h${at}`, { head: {} }]));
  const document = { openapi: "3.1.0", paths: { "/a": { get: { operationId: "readA" } }, ...heads } };
  const files = { "index.js": HELLO, "openapi.json": JSON.stringify(document) };
  await (await Repository.create(repositories(), "acme/heads")).commitFiles(files);
  const { app, logs } = await deploy(tenant, "acme/heads");
  expect((await callableProcedures(tenant)).map(({ name }) => name)).toEqual(["readA"]);
  expect(app["status_message"]).toMatch(
    /^The app is live\. Left out 12: "HEAD \/h0", .*"HEAD \/h9" \(.*\) and 2 more\./,
  );
  expect(logs.match(/^\[service\] Left out "HEAD \/h\d+": agents cannot use this method\.$/gm)).toHaveLength(12);
});

test("an app whose procedures cannot be read becomes ready, and its status message quotes its error", async () => {
  const tenant = await harness().tenant();
  const { app, logs } = await deployScript(
    tenant,
    "bound",
    // The binding exists once the app is deployed, and not while the app runs isolated for the discovery.
    `import { env } from "cloudflare:workers";
     if (!("DB" in env)) throw new Error("no DB\\n[service] ready");
     export const appRouter = { _def: {} };
     ${HELLO}`,
  );
  expect(app).toMatchObject({
    status: "ready",
    error: null,
    status_message: expect.stringMatching(
      /^The app is live\. The app's procedures could not be read: .* It reported ".*no DB/,
    ),
  });
  expect(logs).toMatch(/^\[service\] The app's procedures could not be read: .*no DB/m);
  expect(logs.match(/^\[service\] ready/gm)).toHaveLength(1);
  expect((await appRequest(String(app["url"]))).text).toBe("hello");
});

test("an internal error during the procedure discovery leaves the app ready and is logged for the operator", async () => {
  const { deploymentDeps } = harness().service.parts;
  const real = deploymentDeps.discovery;
  deploymentDeps.discovery = failing(real, "discover", 1);
  try {
    const { app, logs } = await deployScript(await harness().tenant(), "faulty", HELLO);
    expect(app).toMatchObject({ status: "ready", status_message: expect.stringContaining("Deploy again") });
    expect(logs).toContain("[service] found no procedures\n");
    expect((await appRequest(String(app["url"]))).text).toBe("hello");
    expect(harness().logged()).toContain("the provider responded with 500 to discover");
    expect(app["status_message"]).not.toContain("500");
  } finally {
    deploymentDeps.discovery = real;
  }
});
