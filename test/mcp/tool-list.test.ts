import { randomUUID } from "node:crypto";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { expect, test } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { discoveredProcedure, givenProcedures } from "../support/edge/live-app.ts";
import { listViolations, PROVIDERS } from "../support/procedures/provider-rules.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();

/** The maximum size of the complete list in the context of an agent, and of a tool on average. */
const BUDGET_TOKENS = 9500;
const AVERAGE_TOKENS = 375;
/** Clients truncate longer descriptions, in bytes. */
const MAX_DESCRIPTION_BYTES = 2048;

interface ListedTool {
  name: string;
  title: string;
  description: string;
  inputSchema: Record<string, unknown>;
  /** Absent for a direct tool. */
  outputSchema?: { type: string };
  annotations: Record<string, unknown>;
}

async function listTools(): Promise<ListedTool[]> {
  const tenant = await service().tenant();
  const tools = await new GatewayClient(service().service.publicUrl, tenant.personal_access_token).tools();
  return tools as unknown as ListedTool[];
}

test("the list of tools takes less than 9,500 tokens, and each tool at most 375 on average", async () => {
  const tools = await listTools();
  expect(countTokens(JSON.stringify(tools))).toBeLessThan(BUDGET_TOKENS);
  const sizes = tools.map((tool) => countTokens(JSON.stringify(tool)));
  const average = sizes.reduce((sum, size) => sum + size, 0) / tools.length;
  expect(average).toBeLessThanOrEqual(AVERAGE_TOKENS);
});

test("every tool has object schemas for input and output, all four annotations, and a description that no client truncates", async () => {
  const tools = await listTools();
  expect(tools.length).toBeGreaterThan(0);
  for (const tool of tools) {
    expect(tool.name).toMatch(/^(service|company|projects?|memory)_[a-z0-9_]+$/);
    expect(Buffer.byteLength(tool.description)).toBeLessThan(MAX_DESCRIPTION_BYTES);
    expect(tool.inputSchema.type).toBe("object");
    for (const provider of PROVIDERS) expect([tool.name, listViolations(tool, provider)]).toEqual([tool.name, []]);
    expect(tool.outputSchema?.type).toBe("object");
    expect(Object.keys(tool.annotations).toSorted()).toEqual([
      "destructiveHint",
      "idempotentHint",
      "openWorldHint",
      "readOnlyHint",
    ]);
    for (const hint of Object.values(tool.annotations)) expect(typeof hint).toBe("boolean");
  }
});

test("every schema of the service, and of direct tools, has a single type in each place", async () => {
  const tenant = await service().tenant();
  const inputSchema = { type: "object", properties: { note: { type: "string" } } };
  await givenProcedures(service(), await service().givenApp(tenant), [
    discoveredProcedure("look", "query", { inputSchema }),
  ]);
  const tools = await new GatewayClient(service().service.publicUrl, tenant.personal_access_token).tools();
  expect(tools).toHaveLength((await listTools()).length + 1);
  for (const { name, inputSchema: input, outputSchema: output } of tools as unknown as ListedTool[])
    for (const schema of [input, ...(output === undefined ? [] : [output])])
      for (const [path, node] of subschemas(schema)) {
        const isTyped = typeof node["type"] === "string" || "anyOf" in node || "enum" in node || "const" in node;
        expect([name, path, isTyped]).toEqual([name, path, true]);
      }
});

/** Every schema within a schema, with its path. */
function subschemas(schema: object, path = ""): [string, Record<string, unknown>][] {
  const { properties = {}, items, anyOf = [] } = schema as { properties?: object; items?: object; anyOf?: object[] };
  const children = [
    ...Object.entries(properties),
    ...anyOf.map((member, at) => [`anyOf ${at}`, member] as const),
    ...(items === undefined ? [] : [["items", items] as const]),
  ];
  return [
    [path, schema as Record<string, unknown>],
    ...children.flatMap(([name, child]) => subschemas(child as object, `${path}.${name}`)),
  ];
}

test("the list is always in the same order, so that clients can cache it", async () => {
  const names = (await listTools()).map(({ name }) => name);
  expect(names).toEqual(names.toSorted());
  expect((await listTools()).map(({ name }) => name)).toEqual(names);
});

test("a client that connects learns which server it is, and an agent which tools to start with", async () => {
  const { personal_access_token: token } = await service().tenant();
  const gateway = new GatewayClient(service().service.publicUrl, token);
  const client = { capabilities: {}, clientInfo: { name: "a client", version: "1" } };
  const { body } = await gateway.call("initialize", { protocolVersion: "2025-11-25", ...client });
  expect(body.result).toMatchObject({
    serverInfo: { name: expect.stringMatching(/^[a-z-]+$/), version: expect.stringMatching(/^\d+\.\d+\.\d+$/) },
    capabilities: { tools: { listChanged: true } },
  });
  const named = String(body.result?.["instructions"]).match(/\bservice_[a-z_]+/g);
  expect(named).toEqual(expect.arrayContaining(["service_docs_search", "service_execute", "service_list_agents"]));
  const instructions = String(body.result?.["instructions"]);
  for (const name of ["memory_recall", "memory_write", "company_knowledge_search", "project_search"])
    expect(instructions).toContain(name);
  expect(countTokens(instructions)).toBeLessThan(400);
  const tools = (await listTools()).map(({ name }) => name);
  expect(tools).toEqual(expect.arrayContaining(named ?? []));
});

test("an agent that calls an unknown tool is told where the tools are listed", async () => {
  const gateway = new GatewayClient(service().service.publicUrl, (await service().tenant()).personal_access_token);
  const { body } = await gateway.call("tools/call", { name: "service_sing" });
  expect(body.error).toEqual({ code: -32_602, message: expect.stringContaining("tools/list") });
});

test("an agent that calls an unknown tool is told similar ones that its organization has and its token may call", async () => {
  const [tenant, other] = [await service().tenant(), await service().tenant()];
  const [own, foreign] = [
    await service().givenApp(tenant, { name: "shipping" }),
    await service().givenApp(other, { name: "shipping" }),
  ];
  for (const app of [own, foreign])
    await givenProcedures(service(), app, [discoveredProcedure("track"), discoveredProcedure("send", "mutation")]);
  const gateway = new GatewayClient(service().service.publicUrl, tenant.personal_access_token);
  const call = async (name: string, client = gateway) =>
    (await client.call("tools/call", { name })).body.error?.message;
  expect(await call("list_apps")).toBe(
    'Unknown tool. Did you mean "service_list_apps"? tools/list returns the available tools.',
  );
  expect(await call("service_deploy")).toContain('Did you mean "service_deploy_app"');
  expect(await call("shipping_track")).toMatch(new RegExp(`Did you mean "${own.slug}_track"`));
  expect(await call(`${foreign.slug}_track`)).not.toContain(foreign.slug);
  for (const name of ["qqqq", "", "x".repeat(100_000), "service_"])
    expect(await call(name)).toBe("Unknown tool. tools/list returns the available tools.");
  const headers = { "mcp-protocol-version": "2025-06-18" };
  const { body } = await gateway.call("tools/call", { name: "memory_recal", arguments: {} }, headers);
  expect(body.error?.message).toContain('Did you mean "memory_recall"?');
});

test("an error names the argument that an unknown one is similar to", async () => {
  const gateway = new GatewayClient(service().service.publicUrl, (await service().tenant()).personal_access_token);
  const { text } = await gateway.tool("service_deploy_app", { repo: "acme/site", brnach: "main" });
  expect(text).toMatch(/^Invalid arguments: unknown field "brnach"\. Did you mean "branch"\? This attempt counted: /);
  const unlike = await gateway.tool("service_list_apps", { pages: 3 });
  expect(unlike.text).toBe('Invalid arguments: unknown field "pages". Arguments: limit (optional), cursor (optional).');
});

test("an error names the arguments of the tool only if the arguments are invalid", async () => {
  const gateway = new GatewayClient(service().service.publicUrl, (await service().tenant()).personal_access_token);
  const call = async (input: object) => (await gateway.tool("service_get_app_logs", input)).text;
  expect(await call({ app_id: randomUUID(), number: "newest" })).toMatch(
    /number: .* Arguments: app_id, number \(optional\), wait_seconds \(optional\)\.$/,
  );
  expect(await call({ app_id: randomUUID() })).toBe("App not found");
});
