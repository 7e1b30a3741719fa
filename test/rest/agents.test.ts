import { randomUUID } from "node:crypto";
import { parse as parseToml } from "smol-toml";
import { beforeAll, describe, expect, test } from "vitest";
import { AgentServer } from "../../domain/agents/agent-server.entity.ts";
import { Agent } from "../../domain/agents/agent.entity.ts";
import { InstructionRevision } from "../../domain/agents/instruction-revision.entity.ts";
import { AuditEvent } from "../../domain/audit/audit-event.entity.ts";
import { SessionEntry } from "../../domain/sessions/session-entry.entity.ts";
import { Session } from "../../domain/sessions/session.entity.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import type { HttpResponse } from "../support/clients/rest-client.ts";
import { givenSession, sampleEntries } from "../support/service/given-session.ts";
import type { Tenant } from "../support/service/harness.ts";
import { listServers, mainAgentId } from "../support/service/main-agent.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";
import { nextMillisecond } from "../support/next-millisecond.ts";

const service = sharedHarness();
let tenant: Tenant;

beforeAll(async () => {
  tenant = await service().tenant();
});

const json = { "content-type": "application/json" };

function patch(path: string, body: object, { rest } = tenant): Promise<HttpResponse> {
  return rest.send("PATCH", path, { body: JSON.stringify(body), headers: json });
}

const remove = (path: string, { rest } = tenant) => rest.send("DELETE", path, {});

/** The gateway client of a provisioned agent. */
function clientOf(agent: { gateway_token?: unknown }): GatewayClient {
  return new GatewayClient(service().service.publicUrl, String(agent.gateway_token));
}

test("a new organization has a server with a main agent", async () => {
  expect(await listServers((await service().tenant()).rest)).toEqual([
    {
      server_id: expect.any(String),
      name: "Default",
      kind: "managed",
      url: null,
      status: "ready",
      status_since: expect.any(String),
      status_message: null,
      agent: { agent_id: expect.any(String), name: "Main", model: null, specialized_agents: [] },
    },
  ]);
});

verifies(
  ["gateway.auth.gateway_token.provisioned", "agents.change"],
  "a new agent gets a gateway token that identifies it, and configurations for its client",
  async () => {
    const { rest } = await service().tenant();
    const created = await rest.post("/v1/servers", { name: "Office", agent_name: "Desk", model: "claude-sonnet-5" });
    expect(created.status).toBe(201);
    const { agent, server_id } = created.body as {
      server_id: string;
      agent: { agent_id: string; gateway_token: string; client_configurations: Record<string, { content: string }> };
    };
    const specialized = await rest.post("/v1/agents", { server_id, name: "Invoices" });
    expect(specialized.status).toBe(201);
    const listed = (await listServers(rest))[1];
    expect(listed).toEqual({
      server_id,
      name: "Office",
      kind: "managed",
      url: null,
      status: "ready",
      status_since: expect.any(String),
      status_message: null,
      agent: {
        agent_id: agent.agent_id,
        name: "Desk",
        model: "claude-sonnet-5",
        specialized_agents: [{ agent_id: specialized.body["agent_id"], name: "Invoices", model: null }],
      },
    });
    const details = { server_id, server_name: "Office", server_kind: "managed", created_at: expect.any(String) };
    const main = { agent_id: agent.agent_id, name: "Desk", model: "claude-sonnet-5", is_main: true };
    expect((await rest.get(`/v1/agents/${agent.agent_id}`)).body).toEqual({ ...main, ...details });
    const invoices = { agent_id: String(specialized.body["agent_id"]), name: "Invoices", model: null, is_main: false };
    expect((await rest.get(`/v1/agents/${invoices.agent_id}`)).body).toEqual({ ...invoices, ...details });
    for (const provisioned of [agent, specialized.body]) {
      const { structuredContent } = await clientOf(provisioned).tool("service_get_agent_instructions");
      expect(structuredContent["agent_id"]).toBe(provisioned.agent_id);
    }
    const url = `${service().service.publicUrl}/mcp`;
    const headers = { Authorization: `Bearer ${agent.gateway_token}` };
    const { claude_code, codex, openclaw, generic } = agent.client_configurations;
    expect(JSON.parse(claude_code!.content)).toEqual({ mcpServers: { service: { type: "http", url, headers } } });
    expect(parseToml(codex!.content)).toEqual({ mcp_servers: { service: { url, http_headers: headers } } });
    expect(JSON.parse(openclaw!.content)).toEqual({
      mcp: { servers: { service: { url, transport: "streamable-http", headers } } },
    });
    expect(JSON.parse(generic!.content)).toEqual({ mcpServers: { service: { url, headers } } });
  },
);

verifies(
  ["servers.change", "agents.change"],
  "servers and agents are renamed, and an agent's model is set and cleared",
  async () => {
    const { rest } = await service().tenant();
    const owner = { rest } as Tenant;
    const [{ server_id: serverId, agent }] = (await listServers(rest)) as [Awaited<ReturnType<typeof listServers>>[0]];
    const agentPath = `/v1/agents/${agent.agent_id}`;
    expect((await patch(`/v1/servers/${serverId}`, { name: "Home" }, owner)).body).toMatchObject({
      server_id: serverId,
      name: "Home",
    });
    expect((await patch(agentPath, { name: "Chief", model: "gpt-6" }, owner)).body).toMatchObject({
      name: "Chief",
      model: "gpt-6",
    });
    expect((await patch(agentPath, { model: null }, owner)).body).toMatchObject({ name: "Chief", model: null });
    expect(await listServers(rest)).toMatchObject([{ name: "Home", agent: { name: "Chief", model: null } }]);
  },
);

verifies("agents.change", "a deleted agent's token is invalid at once, and nothing of the agent is left", async () => {
  const { server_id } = (await listServers(tenant.rest))[0]!;
  const agent = (await tenant.rest.post("/v1/agents", { server_id, name: "Short" })).body;
  const gateway = clientOf(agent);
  expect((await gateway.tool("service_set_agent_instructions", { content: "One" })).isError).toBe(false);
  expect((await remove(`/v1/agents/${String(agent["agent_id"])}`)).body).toEqual({ status: "deleted" });
  expect((await gateway.call("tools/list")).status).toBe(401);
  const em = service().service.parts.orm.em.fork();
  expect(await em.count(InstructionRevision, { agentId: String(agent["agent_id"]) })).toBe(0);
  expect((await remove(`/v1/agents/${String(agent["agent_id"])}`)).status).toBe(404);
});

test("a deleted agent or server takes its sessions with it, also one with 100,000 entries", async () => {
  const { body } = await tenant.rest.post("/v1/servers", { name: "With sessions" });
  const serverId = String(body["server_id"]);
  const main = String((body["agent"] as { agent_id: unknown }).agent_id);
  const created = await tenant.rest.post("/v1/agents", { server_id: serverId, name: "Specialist" });
  const specialist = String(created.body["agent_id"]);
  const em = service().service.parts.orm.em.fork();
  const countEntries = (ids: string[]) => em.count(SessionEntry, { sessionId: { $in: ids } });
  const sessions: string[] = [];
  for (const agentId of [main, main, specialist, specialist])
    sessions.push((await givenSession(tenant.rest, { agentId, entries: sampleEntries(3) })).session_id);
  const [first, , third] = sessions as [string, string, string];
  for (const id of [first, third])
    await em.execute(
      `insert into session_entries (session_id, seq, server_id, entry_id, role, content, created_at)
       select ?, n, ?, 'n' || n, 'user', 'Text', now() from generate_series(4, 100000) n`,
      [id, serverId],
    );
  expect((await remove(`/v1/agents/${specialist}`)).status).toBe(200);
  expect([await countEntries(sessions.slice(2)), await countEntries(sessions)]).toEqual([0, 100_003]);
  expect((await remove(`/v1/servers/${serverId}`)).status).toBe(200);
  expect([await countEntries(sessions), await em.count(Session, { serverId })]).toEqual([0, 0]);
});

verifies("servers.change", "a deleted server takes its agents and their tokens with it", async () => {
  const { body } = await tenant.rest.post("/v1/servers", { name: "Temporary" });
  const main = body["agent"] as { agent_id: string; gateway_token: string };
  const path = `/v1/servers/${String(body["server_id"])}`;
  const other = (await tenant.rest.post("/v1/agents", { server_id: body["server_id"], name: "Other" })).body;
  expect((await remove(path)).body).toEqual({ status: "deleted" });
  for (const agent of [main, other]) expect((await clientOf(agent).call("tools/list")).status).toBe(401);
  const em = service().service.parts.orm.em.fork();
  expect(await em.count(Agent, { serverId: String(body["server_id"]) })).toBe(0);
  expect((await remove(path)).status).toBe(404);
});

test("the main agent of a server and the only server of an organization cannot be deleted", async () => {
  const { rest } = await service().tenant();
  const owner = { rest } as Tenant;
  const { server_id, agent } = (await listServers(rest))[0]!;
  const main = await remove(`/v1/agents/${agent.agent_id}`, owner);
  expect([main.status, main.body["error"]]).toEqual([409, expect.stringContaining("Delete the server instead")]);
  const only = await remove(`/v1/servers/${server_id}`, owner);
  expect([only.status, only.body["error"]]).toEqual([409, expect.stringContaining("Create another server first")]);
  const second = String((await rest.post("/v1/servers", { name: "Second" })).body["server_id"]);
  const both = await Promise.all([server_id, second].map((id) => remove(`/v1/servers/${id}`, owner)));
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
});

describe("a request that is not allowed changes nothing", () => {
  const INVALID: [what: string, body: object, message: RegExp][] = [
    ["an empty name", { name: "" }, /^name: must be one line of 1 to 100 characters/],
    ["a long name", { name: "x".repeat(101) }, /^name: /],
    ["a name of two lines", { name: "a\nb" }, /^name: /],
    ["a name with a direction override", { name: "a\u202Eb" }, /^name: /],
    ["a model with a space", { name: "a", model: "a b" }, /^model: must have 1 to 100 visible ASCII/],
    ["a long model", { name: "a", model: "x".repeat(101) }, /^model: /],
    ["an unknown field", { name: "a", color: "red" }, /color/],
  ];

  test.each(INVALID)("%s", async (_, body, message) => {
    const { server_id } = (await listServers(tenant.rest))[0]!;
    const before = await listServers(tenant.rest);
    for (const response of [
      await tenant.rest.post("/v1/servers", body),
      await tenant.rest.post("/v1/agents", { server_id, ...body }),
    ])
      expect([response.status, response.body["error"]]).toEqual([400, expect.stringMatching(message)]);
    expect(await listServers(tenant.rest)).toEqual(before);
  });

  test("no change at all", async () => {
    const response = await patch(`/v1/agents/${await mainAgentId(tenant.rest)}`, {});
    expect([response.status, response.body["error"]]).toEqual([400, expect.stringContaining("name, model")]);
  });

  test("an unknown server", async () => {
    const response = await tenant.rest.post("/v1/agents", { server_id: randomUUID(), name: "Lost" });
    expect([response.status, response.body["error"]]).toEqual([404, expect.stringContaining("Server not found")]);
  });

  test("a gateway token for an unknown agent, or for one of another organization", async () => {
    const foreign = await mainAgentId((await service().tenant()).rest);
    for (const agent_id of [randomUUID(), foreign]) {
      const response = await tenant.rest.post("/v1/tokens", { kind: "gateway_token", name: "Lost", agent_id });
      expect([response.status, response.body["error"]]).toEqual([404, expect.stringContaining("no such agent")]);
    }
  });
});

test("an organization has at most 1,000 servers, and a server at most 100 agents", async () => {
  const { org_id: orgId, rest } = await service().tenant();
  const em = service().service.parts.orm.em.fork();
  const { server_id: serverId } = (await listServers(rest))[0]!;
  for (let number = 1; number < 100; number++) em.create(Agent, { orgId, serverId, name: `${number}`, isMain: false });
  for (let number = 1; number < 1000; number++) em.create(AgentServer, { orgId, name: `${number}` });
  await em.flush();
  const agent = await rest.post("/v1/agents", { server_id: serverId, name: "One more" });
  expect([agent.status, agent.body["error"]]).toEqual([409, expect.stringContaining("at most 100 agents")]);
  const server = await rest.post("/v1/servers", { name: "One more" });
  expect([server.status, server.body["error"]]).toEqual([409, expect.stringContaining("at most 1000 servers")]);
});

test("the pages of the servers contain every server once, oldest first", async () => {
  const { rest } = await service().tenant();
  for (const name of ["Second", "Third", "Fourth"]) {
    await nextMillisecond();
    await rest.post("/v1/servers", { name });
  }
  const names: string[] = [];
  let cursor: string | null = "";
  do {
    const search = cursor === "" ? "" : `&cursor=${cursor}`;
    const { status, body } = await rest.get(`/v1/servers?limit=2${search}`);
    expect(status).toBe(200);
    names.push(...(body["servers"] as { name: string }[]).map(({ name }) => name));
    cursor = body["next_cursor"] as string | null;
  } while (cursor !== null);
  expect(names).toEqual(["Default", "Second", "Third", "Fourth"]);
  for (const search of ["limit=0", "limit=101", "limit=x", "cursor=made-up"])
    expect([search, (await rest.get(`/v1/servers?${search}`)).status]).toEqual([search, 400]);
});

test("the audit log names the agent and the server of an action, without the content of instructions", async () => {
  const { rest, org_id: orgId } = await service().tenant();
  const { server_id, agent } = (await listServers(rest))[0]!;
  await rest.send("PUT", `/v1/agents/${agent.agent_id}/instructions`, {
    body: JSON.stringify({ content: "Secret plan" }),
    headers: json,
  });
  const office = (await rest.post("/v1/servers", { name: "Office" })).body;
  const invoices = (await rest.post("/v1/agents", { server_id, name: "Invoices" })).body;
  const em = service().service.parts.orm.em.fork();
  const events = await em.find(AuditEvent, { orgId }, { orderBy: { action: "asc" } });
  expect(events).toMatchObject([
    { action: "agents.create", target: invoices["agent_id"], targetKind: "agent", targetName: "Invoices" },
    { action: "instructions.replace", target: agent.agent_id, targetKind: "agent", targetName: "Main" },
    { action: "servers.create", target: office["server_id"], targetKind: "server", targetName: "Office" },
  ]);
  expect(JSON.stringify(events)).not.toContain("Secret plan");
});
