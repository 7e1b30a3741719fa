import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_LIMITS, Plans } from "../../../domain/plans/plans.ts";
import { AgentServer } from "../../../domain/agents/agent-server.entity.ts";
import { Agent } from "../../../domain/agents/agent.entity.ts";
import { createAgent, type CreateAgent } from "../../../domain/agents/create-agent.ts";
import { createServer, type CreateServer } from "../../../domain/agents/create-server.ts";
import { updateAgent, type UpdateAgent } from "../../../domain/agents/update-agent.ts";
import { sha256Hex } from "../../../domain/shared/sha256.ts";
import { MachineToken } from "../../../domain/tokens/machine-token.entity.ts";
import { callerOf, givenServer, tokenCipher } from "../../support/agents/given-server.ts";
import { ScriptedHosts } from "../../support/agents/scripted-hosts.ts";
import { sharedDatabase } from "../../support/database/shared-database.ts";

const orm = sharedDatabase();
const em = () => orm().em.fork();
const PLANS = new Plans({ free: { ...DEFAULT_LIMITS, apps: 1, gateways: 2 } }, "free");
const GATEWAY = { name: "Gateway", kind: "openclaw", url: "wss://gateway.example.com", token: "secret" } as const;

/** The servers whose connections were announced as changed. */
let announced: string[];

beforeEach(() => {
  announced = [];
});

function deps() {
  const serverChanges = { announce: (id: string) => void announced.push(id), listen: () => () => undefined };
  const gatewayUrl = () => "https://service.example/mcp";
  return { em: orm().em, plans: PLANS, hosts: new ScriptedHosts(), tokenCipher, serverChanges, gatewayUrl };
}

const create = (orgId: string, request: CreateServer) => createServer(deps(), callerOf(orgId), request);
const add = (orgId: string, request: CreateAgent) => createAgent(deps(), callerOf(orgId), request);
const update = (orgId: string, request: UpdateAgent) => updateAgent(deps(), callerOf(orgId), request);
const invalid = (message: string) => ({ code: "invalid", message: expect.stringContaining(message) });

async function expectToken(token: string, agentId: string, orgId: string): Promise<void> {
  expect(await em().findOneOrFail(MachineToken, { tokenSha256: sha256Hex(token) })).toMatchObject({
    kind: "gateway_token",
    agentId,
    orgId,
    userId: null,
    revokedAt: null,
  });
}

test("a managed server is ready with its main agent and the token of this agent", async () => {
  const orgId = randomUUID();
  const created = await create(orgId, { name: "Office" });
  expect(created).toMatchObject({
    name: "Office",
    kind: "managed",
    url: null,
    status: "ready",
    agent: { name: "Main", model: null, specialized_agents: [] },
  });
  const { agent_id: agentId, gateway_token: token } = created.agent;
  expect(await em().findOneOrFail(Agent, { id: agentId })).toMatchObject({
    orgId,
    serverId: created.server_id,
    isMain: true,
  });
  await expectToken(token, agentId, orgId);
  expect([Object.keys(created.agent).includes("server_id"), announced]).toEqual([false, []]);
});

test("a gateway is connected to after its server is stored", async () => {
  const orgId = randomUUID();
  const created = await create(orgId, GATEWAY);
  expect(created).toMatchObject({ kind: "openclaw", url: GATEWAY.url, status: "connecting", status_message: null });
  const stored = await em().findOneOrFail(AgentServer, { id: created.server_id });
  expect(stored).toMatchObject({ orgId, kind: "openclaw", url: GATEWAY.url, connectionVersion: 1 });
  expect(tokenCipher.open(stored.sealedToken!, [created.server_id])).toBe("secret");
  expect(announced).toEqual([created.server_id]);
});

describe("a server is not created", () => {
  test.each<[what: string, change: Partial<Record<keyof CreateServer, string | undefined>>, message: string]>([
    ["with a name that is not allowed", { name: "" }, "name: must be one line"],
    ["with a URL that is not allowed", { url: "https://a" }, "url: must be a WebSocket URL"],
    ["with a token that no gateway has", { token: "" }, "token: must have 1 to"],
    ["without a URL", { url: undefined }, "url and token: are required"],
    ["without a token", { token: undefined }, "url and token: are required"],
    ["with the name of a gateway's agent", { agent_name: "Chief" }, "agent_name and model: the gateway has them"],
    ["with the model of a gateway's agent", { model: "model-1" }, "agent_name and model: the gateway has them"],
    ["with a URL of a managed server", { kind: "managed", token: undefined }, "url and token: only a server"],
    ["with a token of a managed server", { kind: undefined, url: undefined }, "url and token: only a server"],
  ])("%s", async (_, change, message) => {
    const orgId = randomUUID();
    await expect(create(orgId, { ...GATEWAY, ...change } as CreateServer)).rejects.toMatchObject(invalid(message));
    expect([await em().count(AgentServer, { orgId }), announced]).toEqual([0, []]);
  });

  test("with an agent that is not allowed", async () => {
    const orgId = randomUUID();
    await expect(create(orgId, { name: "A", agent_name: " " })).rejects.toMatchObject(invalid("name: "));
    await expect(create(orgId, { name: "A", model: "a b" })).rejects.toMatchObject(invalid("model: "));
    expect(await em().count(AgentServer, { orgId })).toBe(0);
  });

  test("if the organization has 1,000 of them", async () => {
    const orgId = randomUUID();
    const root = em();
    for (let number = 1; number < 1000; number++) root.create(AgentServer, { orgId, name: String(number) });
    await root.flush();
    await create(orgId, { name: "Last" });
    await expect(create(orgId, { name: "Further" })).rejects.toMatchObject({ code: "conflict" });
    await create(randomUUID(), { name: "Of another organization" });
    expect(await em().count(AgentServer, { orgId })).toBe(1000);
  });
});

describe("a specialized agent", () => {
  test("is created with its own token", async () => {
    const { orgId, serverId } = await givenServer(orm(), { isManaged: true });
    const created = await add(orgId, { server_id: serverId, name: "Invoices", model: "~".repeat(100) });
    expect(created).toMatchObject({ server_id: serverId, name: "Invoices", model: "~".repeat(100) });
    await expectToken(created.gateway_token, created.agent_id, orgId);
    expect(created.client_configurations.generic.content).toContain(created.gateway_token);
    expect(await em().findOneOrFail(Agent, { id: created.agent_id })).toMatchObject({ orgId, isMain: false });
  });

  test("is not created in a gateway, or on a server of another organization", async () => {
    const gateway = await givenServer(orm());
    const foreign = await givenServer(orm(), { isManaged: true });
    const ofGateway = add(gateway.orgId, { server_id: gateway.serverId, name: "A" });
    await expect(ofGateway).rejects.toMatchObject({ code: "conflict" });
    for (const id of [foreign.serverId, randomUUID()])
      await expect(add(gateway.orgId, { server_id: id, name: "A" })).rejects.toMatchObject({
        code: "not_found",
        message: expect.stringMatching(/^Server not found/),
      });
    for (const { serverId } of [gateway, foreign]) expect(await em().count(Agent, { serverId })).toBe(1);
  });

  test("is not created with a name or a model that is not allowed", async () => {
    const { orgId, serverId: server_id } = await givenServer(orm(), { isManaged: true });
    await expect(add(orgId, { server_id, name: "a\nb" })).rejects.toMatchObject(invalid("name: "));
    for (const model of ["", "a b", " a", "a ", "é", "aé", "x".repeat(101)])
      await expect(add(orgId, { server_id, name: "A", model })).rejects.toMatchObject(
        invalid("model: must have 1 to 100"),
      );
    expect(await em().count(Agent, { serverId: server_id })).toBe(1);
  });

  test("is one of at most 100 agents of its server", async () => {
    const { orgId, serverId } = await givenServer(orm(), { isManaged: true, agents: Array<null>(98).fill(null) });
    const simultaneous = Array.from({ length: 5 }, () => add(orgId, { server_id: serverId, name: "New" }));
    const results = await Promise.allSettled(simultaneous);
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    expect(await em().count(Agent, { serverId })).toBe(100);
    const further = add(orgId, { server_id: serverId, name: "Further" });
    await expect(further).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining("at most 100") });
    const other = await givenServer(orm(), { isManaged: true });
    await add(other.orgId, { server_id: other.serverId, name: "Of another server" });
  });
});

describe("an agent", () => {
  test("is changed in one field or both, and other agents stay as they are", async () => {
    const { orgId, serverId, agentIds } = await givenServer(orm(), { isManaged: true, agents: [null, null] });
    const [id, other] = agentIds as [string, string];
    const view = { agent_id: id, server_id: serverId };
    expect(await update(orgId, { id, name: "Chief" })).toEqual({ ...view, name: "Chief", model: null });
    expect(await update(orgId, { id, model: "m" })).toEqual({ ...view, name: "Chief", model: "m" });
    expect(await update(orgId, { id, name: "A" })).toEqual({ ...view, name: "A", model: "m" });
    expect(await em().findOneOrFail(Agent, { id })).toMatchObject({ name: "A", model: "m" });
    expect(await update(orgId, { id, name: "B", model: null })).toEqual({ ...view, name: "B", model: null });
    expect(await em().findOneOrFail(Agent, { id: other })).toMatchObject({ name: "Main", model: null });
  });

  test("is not changed without a value, or with one that is not allowed", async () => {
    const { orgId, agentIds } = await givenServer(orm(), { isManaged: true });
    const id = agentIds[0]!;
    await expect(update(orgId, { id })).rejects.toMatchObject(invalid("Nothing to change"));
    await expect(update(orgId, { id, name: "" })).rejects.toMatchObject(invalid("name: "));
    await expect(update(orgId, { id, model: "" })).rejects.toMatchObject(invalid("model: "));
    expect(await em().findOneOrFail(Agent, { id })).toMatchObject({ name: "Main", model: null });
  });

  test("is not changed in a gateway, or in another organization", async () => {
    const gateway = await givenServer(orm());
    const foreign = await givenServer(orm(), { isManaged: true });
    const change = (id: string) => update(gateway.orgId, { id, name: "Mine" });
    await expect(change(gateway.agentIds[0]!)).rejects.toMatchObject({ code: "conflict" });
    for (const id of [foreign.agentIds[0]!, randomUUID()])
      await expect(change(id)).rejects.toMatchObject({
        code: "not_found",
        message: expect.stringMatching(/^Agent not found/),
      });
    for (const [id] of [gateway.agentIds, foreign.agentIds])
      expect(await em().findOneOrFail(Agent, { id: id! })).toMatchObject({ name: "Main" });
  });
});

test("an organization has at most the gateways of its plan, and as many other servers as before", async () => {
  const orgId = randomUUID();
  await create(orgId, GATEWAY);
  await create(orgId, { ...GATEWAY, name: "Second" });
  await expect(create(orgId, { ...GATEWAY, name: "Third" })).rejects.toMatchObject({
    code: "plan_limit",
    message: 'The plan "free" allows 2 servers with an OpenClaw gateway. Delete one, or move to a larger plan.',
  });
  expect(await create(orgId, { name: "Managed" })).toMatchObject({ name: "Managed" });
});
