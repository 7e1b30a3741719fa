import { randomUUID } from "node:crypto";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { beforeAll, expect, test } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { type GivenAgent, givenAgent } from "../support/service/given-agent.ts";
import type { Tenant } from "../support/service/harness.ts";
import { mainAgentId } from "../support/service/main-agent.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness();
let tenant: Tenant;

beforeAll(async () => {
  tenant = await service().tenant();
});

const newAgent = (owner = tenant): Promise<GivenAgent> => givenAgent(service().service.publicUrl, owner.rest);

let projects = 0;

/** Creates a project with documents, mounted on agents. Returns its id. */
async function givenProject(
  fields: { name?: string; kind?: string; agents?: GivenAgent[]; documents?: Record<string, string> } = {},
  owner = tenant,
): Promise<string> {
  const { name = `Project ${++projects}`, kind = "client", agents = [], documents = {} } = fields;
  const created = await owner.rest.post("/v1/projects", { name, kind, agent_ids: agents.map(({ id }) => id) });
  expect([created.status, created.text]).toEqual([201, expect.any(String)]);
  const id = String(created.body["project_id"]);
  for (const [title, content] of Object.entries(documents))
    expect((await owner.rest.post(`/v1/projects/${id}/documents`, { title, content })).status).toBe(201);
  return id;
}

const list = async (gateway: GatewayClient, input: object = {}) =>
  (await gateway.tool("projects_list", input)).structuredContent["projects"] as { project_id: string; name: string }[];
const search = async (gateway: GatewayClient, id: string, query: string, further: object = {}) =>
  (await gateway.tool("project_search", { project_id: id, query, ...further })).structuredContent["hits"];

verifies(
  ["tool.projects_list", "tool.project_search"],
  "through an MCP client with a gateway token, an agent lists its projects and searches one, and finds nothing of another client",
  async () => {
    const agent = await newAgent();
    const acme = await givenProject({
      name: "Acme",
      agents: [agent],
      documents: { Contract: "# Payment\n\nAcme pays invoices within 14 days.", Contacts: "Anna leads sales." },
    });
    const globex = await givenProject({ name: "Globex", documents: { Contract: "Globex pays invoices in 60 days." } });
    const headers = { authorization: `Bearer ${agent.token}` };
    const url = new URL(`${service().service.publicUrl}/mcp`);
    const client = new Client({ name: "an-agent", version: "1.0.0" });
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    await client.listTools();
    const call = (name: string, input: Record<string, unknown>) => client.callTool({ name, arguments: input });
    expect((await call("projects_list", {})).structuredContent).toEqual({
      projects: [{ project_id: acme, name: "Acme", kind: "client", description: "", document_count: 2 }],
      next_cursor: null,
    });
    expect(
      (await call("project_search", { project_id: acme, query: "when are invoices paid?" })).structuredContent,
    ).toEqual({
      hits: [
        {
          document_id: expect.any(String),
          title: "Contract",
          snippet: expect.stringContaining("Acme pays invoices within 14 days."),
          score: expect.any(Number),
        },
      ],
      cut: null,
    });
    for (const id of [globex, randomUUID()])
      expect(await call("project_search", { project_id: id, query: "invoices" })).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining("Project not found") }],
      });
    await client.close();
  },
);

test("a search of one project finds nothing of another one that is mounted too", async () => {
  const agent = await newAgent();
  const one = await givenProject({ agents: [agent], documents: { Plan: "The launch is in May." } });
  const other = await givenProject({ agents: [agent], documents: { Plan: "The warehouse moves in June." } });
  expect(await search(agent.gateway, one, "warehouse")).toEqual([]);
  expect(await search(agent.gateway, other, "warehouse")).toMatchObject([{ title: "Plan" }]);
});

test("with a gateway token, a project that is not mounted, one of another organization and an unknown one get the same response", async () => {
  const [agent, other] = [await newAgent(), await newAgent()];
  const tenant2 = await service().tenant();
  const ids = [
    await givenProject({ agents: [other], documents: { Plan: "Secret plan" } }),
    await givenProject({ documents: { Plan: "Secret plan" } }, tenant2),
    randomUUID(),
  ];
  const responses = await Promise.all(
    ids.map((project_id) => agent.gateway.tool("project_search", { project_id, query: "secret" })),
  );
  expect(new Set(responses.map((response) => JSON.stringify(response))).size).toBe(1);
  expect(responses[0]).toMatchObject({ isError: true, text: expect.stringContaining("Project not found") });
  expect(await list(agent.gateway)).toEqual([]);
});

test("an unmounted project is not found any more", async () => {
  const agent = await newAgent();
  const id = await givenProject({ agents: [agent], documents: { Plan: "The launch is in May." } });
  expect(await search(agent.gateway, id, "launch")).toHaveLength(1);
  await tenant.rest.delete(`/v1/projects/${id}/agents/${agent.id}`);
  expect([await list(agent.gateway), await search(agent.gateway, id, "launch")]).toEqual([[], undefined]);
});

test("with a gateway token, an agent lists only its own projects", async () => {
  const [agent, other] = [await newAgent(), await newAgent()];
  await givenProject({ agents: [other] });
  expect(await agent.gateway.tool("projects_list", { agent_id: other.id })).toMatchObject({
    isError: true,
    text: expect.stringContaining("belongs to its own agent"),
  });
});

test("a user lists the projects of an agent by kind, and searches every project of the organization", async () => {
  const owner = await service().tenant();
  const mainId = await mainAgentId(owner.rest);
  const main = { id: mainId } as GivenAgent;
  const client = await givenProject({ name: "A client", agents: [main] }, owner);
  const skill = await givenProject({ name: "Writing", kind: "capability", agents: [main] }, owner);
  const unmounted = await givenProject({ documents: { Plan: "The launch is in May." } }, owner);
  const gateway = new GatewayClient(service().service.publicUrl, owner.personal_access_token);
  expect((await list(gateway)).map(({ project_id: id }) => id)).toEqual([client, skill]);
  expect((await list(gateway, { agent_id: mainId, kind: "capability" })).map(({ project_id: id }) => id)).toEqual([
    skill,
  ]);
  expect(await search(gateway, unmounted, "launch")).toMatchObject([{ title: "Plan" }]);
});

test("many projects are listed in pages within the size of a response", async () => {
  const owner = await service().tenant();
  const agentId = await mainAgentId(owner.rest);
  for (let n = 0; n < 60; n++)
    await owner.rest.post("/v1/projects", {
      name: `Client ${n}`,
      kind: "client",
      description: "é".repeat(500),
      agent_ids: [agentId],
    });
  const gateway = new GatewayClient(service().service.publicUrl, owner.personal_access_token);
  const names: string[] = [];
  let cursor: unknown = undefined;
  do {
    const { structuredContent, text } = await gateway.tool("projects_list", { cursor });
    expect(text.length).toBeLessThanOrEqual(24_000);
    names.push(...(structuredContent["projects"] as { name: string }[]).map(({ name }) => name));
    cursor = structuredContent["next_cursor"] ?? undefined;
  } while (cursor !== undefined);
  expect([names.length, new Set(names).size]).toEqual([60, 60]);
});

test("a document is one hit, with the passage that matches best, and the hits fit into a response", async () => {
  const agent = await newAgent();
  const sections = Array.from(
    { length: 8 },
    (_, n) => `## Part ${n}\n\n${`The report number ${n} is long. `.repeat(40)}`,
  );
  const documents = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`Report ${n}`, sections.join("\n\n")]));
  const id = await givenProject({ agents: [agent], documents });
  const { structuredContent, text } = await agent.gateway.tool("project_search", {
    project_id: id,
    query: "report",
    limit: 50,
  });
  const hits = structuredContent["hits"] as { document_id: string }[];
  expect(text.length).toBeLessThanOrEqual(24_000);
  expect(new Set(hits.map(({ document_id }) => document_id)).size).toBe(hits.length);
  expect(hits.length).toBeGreaterThan(5);
});

test("documents that almost fill a response and the note about missing ones fit into it", async () => {
  const agent = await newAgent();
  const documents = Object.fromEntries(
    Array.from({ length: 22 }, (_, n) => [String(n).padStart(115, "Report "), "The report is long. ".repeat(60)]),
  );
  const id = await givenProject({ agents: [agent], documents });
  const { structuredContent, text } = await agent.gateway.tool("project_search", {
    project_id: id,
    query: "report",
    limit: 50,
  });
  const shown = (structuredContent["hits"] as object[]).length;
  expect(structuredContent["cut"]).toBe(`${22 - shown} more documents match. Use more specific words.`);
  expect(text.length).toBeLessThanOrEqual(24_000);
});

test("an empty query is refused", async () => {
  const agent = await newAgent();
  const id = await givenProject({ agents: [agent] });
  expect(await agent.gateway.tool("project_search", { project_id: id, query: " " })).toMatchObject({
    isError: true,
    text: expect.stringContaining("query: has 0 characters, and 1 to 10000 are allowed"),
  });
});

test("the note of a search says when documents may be missing because their passages were not compared", async () => {
  const agent = await newAgent();
  const sections = Array.from({ length: 20 }, (_, n) => `# Part ${n}\n\nInvoices of part ${n}.`).join("\n\n");
  const id = await givenProject({
    name: "Large",
    agents: [agent],
    documents: { One: sections, Two: sections, Three: "Invoices." },
  });
  const { structuredContent } = await agent.gateway.tool("project_search", {
    project_id: id,
    query: "invoices",
    limit: 10,
  });
  const { hits, cut } = structuredContent as { hits: object[]; cut: string | null };
  expect(hits.length).toBeLessThan(10);
  expect(cut).toBe("Only the best passages were compared, and more documents may match. Use more specific words.");
});
