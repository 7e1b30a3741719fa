import { afterAll, beforeAll, expect, test } from "vitest";
import { TOOL_LIST, TOOLS } from "../../routers/tool-registry.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { openStream } from "../support/clients/mcp-notification-streams.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { discoveredProcedure, givenLiveApp, givenProcedures } from "../support/edge/live-app.ts";
import { createHarness, type Harness, type Tenant } from "../support/service/harness.ts";
import { verifies } from "../support/verifies.ts";
import { waitFor } from "../support/time-limits.ts";

let one: Harness;
let two: Harness;

/** Two services with one database. */
beforeAll(async () => {
  const config = { publicUrl: "http://127.0.0.1:3998", tokenSecret: "x".repeat(32) };
  one = await createHarness({ config });
  const { databaseUrl, redisUrl } = one.config;
  two = await createHarness({ config: { ...config, databaseUrl, redisUrl } });
});
afterAll(async () => {
  await two[Symbol.asyncDispose]();
  await one[Symbol.asyncDispose]();
});

const listenUrl = ({ service: { port } }: Harness) => `http://127.0.0.1:${port}`;
const gatewayOf = (harness: Harness, { personal_access_token: token }: Tenant) =>
  new GatewayClient(listenUrl(harness), token);

/** An organization whose only app has one procedure, with a REST client of the first service. */
async function givenTenant() {
  const tenant = await one.tenant();
  const script = `export default { fetch: () => Response.json({ greeting: "hello" }) };`;
  const app = await givenLiveApp(one, tenant, { script, procedures: [discoveredProcedure("greet")] });
  const rest = new RestClient(listenUrl(one), tenant.api_key);
  const set = (body: object) =>
    rest.send("PATCH", "/v1/organization", {
      ...{ body: JSON.stringify(body), headers: { "content-type": "application/json" } },
    });
  return { tenant, app, rest, set, tool: `${app.slug}_greet` };
}

const namesOf = async (gateway: GatewayClient) => (await gateway.tools()).map(({ name }) => String(name));
const OWN = TOOL_LIST.map(({ name }) => name);

test("without direct tools, the list of all processes has the service's own tools, and search and execute do the work", async () => {
  const { tenant, app, set, tool } = await givenTenant();
  const other = await givenTenant();
  const gateways = [gatewayOf(one, tenant), gatewayOf(two, tenant)];
  for (const gateway of gateways) expect(await namesOf(gateway)).toEqual([...OWN, tool]);
  expect((await set({ direct_tools: "none" })).status).toBe(200);
  for (const gateway of gateways) {
    expect(await namesOf(gateway)).toEqual(OWN);
    const { error } = (await gateway.call("tools/call", { name: tool, arguments: {} })).body;
    expect(error?.message).toContain("Unknown tool");
    const { hits } = (await gateway.tool("service_docs_search", { query: "greet" })).structuredContent;
    expect(hits).toMatchObject([{ app: app.slug, procedure: "greet", direct_tool: null }]);
  }
  const code = `console.log(JSON.stringify(await service.apps[${JSON.stringify(app.slug)}].greet()))`;
  const { stdout } = (await gateways[0]!.tool("service_execute", { code })).structuredContent;
  expect(stdout).toBe('{"greeting":"hello"}\n');
  for (const harness of [one, two])
    expect(await namesOf(gatewayOf(harness, other.tenant))).toEqual([...OWN, other.tool]);
  expect((await set({ direct_tools: "all" })).body["direct_tools"]).toBe("all");
  for (const gateway of gateways) expect(await namesOf(gateway)).toEqual([...OWN, tool]);
});

test("a change notifies the clients of its organization in all processes, and a repetition or an organization of others does not", async () => {
  const { tenant, set } = await givenTenant();
  const other = await givenTenant();
  const streams = await Promise.all(
    [one, two].flatMap((harness) =>
      [tenant, other.tenant].map(({ personal_access_token: token }) => openStream(listenUrl(harness), token)),
    ),
  );
  const counts = () => streams.map(({ methods }) => methods.filter((method) => method.includes("list_changed")).length);
  try {
    await set({ direct_tools: "none" });
    await waitFor(() => expect(counts()).toEqual([1, 0, 1, 0]));
    await set({ direct_tools: "none" });
    await set({ direct_tools: "all" });
    await waitFor(() => expect(counts()).toEqual([2, 0, 2, 0]));
  } finally {
    await Promise.all(streams.map((stream) => stream.close()));
  }
});

test("over 60 tools, the instructions and the settings recommend none", async () => {
  const { tenant, rest, set } = await givenTenant();
  const gateway = gatewayOf(one, tenant);
  const instructions = async () => {
    const clientInfo = { name: "a", version: "1" };
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    return String((await gateway.call("initialize", params)).body.result?.["instructions"]);
  };
  const settings = async () => (await rest.get("/v1/organization")).body;
  const base = { org_id: tenant.org_id, direct_tools: "all", customization_available: false };
  const add = async (count: number) => {
    const procedures = Array.from({ length: count }, (_, at) => discoveredProcedure(`p${at}`));
    await givenProcedures(one, await one.givenApp(tenant, {}), procedures);
  };
  let missing = 60 - TOOLS.size - 1;
  for (; missing > 0; missing -= 5) await add(Math.min(missing, 5));
  expect(await settings()).toEqual({ ...base, tool_count: 60, recommended_direct_tools: "all" });
  expect(await instructions()).not.toContain("direct_tools");
  await add(1);
  expect(await settings()).toEqual({ ...base, tool_count: 61, recommended_direct_tools: "none" });
  expect(await instructions()).toContain("This list has 61 tools, more than the recommended 60.");
  expect((await set({ direct_tools: "none" })).body).toMatchObject({
    tool_count: 61,
    recommended_direct_tools: "none",
  });
  expect(await instructions()).not.toContain("direct_tools");
});

verifies(
  "organization.change",
  "the settings are changed by admins only, and each change is in the audit log",
  async () => {
    const { tenant, rest, set } = await givenTenant();
    for (const body of [{}, { direct_tools: "some" }, { direct_tools: null }, { direct_tools: "none", plan: "scale" }])
      expect([body, (await set(body)).status]).toEqual([body, 400]);
    const reader = await rest.post("/v1/tokens", { kind: "api_key", name: "Reader", scope: "read" });
    const read = rest.as(String(reader.body["token"]));
    expect((await read.get("/v1/organization")).body["direct_tools"]).toBe("all");
    const headers = { "content-type": "application/json" };
    const refused = await read.send("PATCH", "/v1/organization", { body: '{"direct_tools":"none"}', headers });
    expect([refused.status, (await rest.get("/v1/organization")).body["direct_tools"]]).toEqual([403, "all"]);
    await set({ direct_tools: "none" });
    const events = await one.service.parts.orm.em
      .fork()
      .execute(
        "select action, outcome from audit_events where org_id = ? and action like 'organization.%' order by id",
        [tenant.org_id],
      );
    expect(events).toHaveLength(2);
    for (const outcome of ["refused", "done"])
      expect(events).toContainEqual({ action: "organization.update", outcome });
  },
);
