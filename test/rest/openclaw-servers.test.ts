import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { AgentServer } from "../../domain/agents/agent-server.entity.ts";
import { Agent } from "../../domain/agents/agent.entity.ts";
import { ScriptedGateway, type ScriptedGatewayOptions } from "../support/agents/scripted-openclaw-gateway.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import type { HttpResponse } from "../support/clients/rest-client.ts";
import type { Tenant } from "../support/service/harness.ts";
import { type ListedServer, listServers } from "../support/service/main-agent.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { nextMillisecond } from "../support/next-millisecond.ts";

const service = sharedHarness({
  worker: true,
  config: { agentHostNetworks: ["127.0.0.0/8"], agentHostPorts: [{ from: 1024, to: 65_535 }] },
});
const json = { "content-type": "application/json" };
let tenant: Tenant;
let gateways = new AsyncDisposableStack();

beforeAll(async () => {
  tenant = await service().tenant();
});

afterEach(async () => {
  await gateways.disposeAsync();
  gateways = new AsyncDisposableStack();
});

async function openGateway(options: ScriptedGatewayOptions = {}): Promise<ScriptedGateway> {
  return gateways.use(await ScriptedGateway.open(options));
}

function patch(id: string, body: object, { rest } = tenant): Promise<HttpResponse> {
  return rest.send("PATCH", `/v1/servers/${id}`, { body: JSON.stringify(body), headers: json });
}

function register(gateway: { url: string; token: string }, { rest } = tenant): Promise<HttpResponse> {
  return rest.post("/v1/servers", { name: "Gateway", kind: "openclaw", url: gateway.url, token: gateway.token });
}

/** Registers a gateway and waits until its agents are listed. */
async function givenServer(gateway: ScriptedGateway, owner = tenant): Promise<string> {
  const { status, body } = await register(gateway, owner);
  expect(status).toBe(201);
  const id = String(body["server_id"]);
  await waitForServer(id, { status: "ready" }, owner);
  return id;
}

const find = async (id: string, { rest } = tenant): Promise<ListedServer | undefined> =>
  (await listServers(rest)).find(({ server_id }) => server_id === id);

async function waitForServer(id: string, expected: object, owner = tenant): Promise<ListedServer> {
  await expect.poll(() => find(id, owner)).toMatchObject(expected);
  return (await find(id, owner))!;
}

/** Makes the service connect again and list the agents, which otherwise happens once a minute. */
async function refresh(id: string, { token }: ScriptedGateway): Promise<void> {
  await patch(id, { token });
  await expect.poll(async () => (await find(id))!.status).not.toBe("connecting");
}

const em = () => service().service.parts.orm.em.fork();

test("a registered gateway is connected to, and its agents are listed with the main one first", async () => {
  const gateway = await openGateway();
  const { status, body } = await register(gateway);
  expect([status, body]).toEqual([
    201,
    {
      server_id: expect.any(String),
      name: "Gateway",
      kind: "openclaw",
      url: gateway.url,
      status: "connecting",
      status_since: expect.any(String),
      status_message: null,
      agent: {
        agent_id: expect.any(String),
        name: "Main",
        model: null,
        specialized_agents: [],
        gateway_token: expect.stringMatching(/^svg_/),
        client_configurations: expect.any(Object),
      },
    },
  ]);
  const { agent_id: mainId } = body["agent"] as { agent_id: string };
  const listed = await waitForServer(String(body["server_id"]), { status: "ready" });
  expect(listed).toMatchObject({
    status_message: null,
    agent: {
      agent_id: mainId,
      name: "main",
      model: "fake/fake",
      specialized_agents: [{ agent_id: expect.any(String), name: "Sales", model: "fake/fake" }],
    },
  });
});

test("the token of a gateway is stored encrypted, and is in no response, error, log or list", async () => {
  const gateway = await openGateway({ token: "oc-very-secret-token" });
  const id = await givenServer(gateway);
  const refusing = await register({ url: (await openGateway()).url, token: gateway.token });
  await waitForServer(String(refusing.body["server_id"]), { status: "unauthorized" });
  const responses = [
    refusing,
    await tenant.rest.get("/v1/servers"),
    await patch(id, { name: "Renamed" }),
    await patch(id, { url: "wss://10.0.0.1", token: gateway.token }),
    await patch(id, { token: `${gateway.token}\n` }),
  ];
  expect(responses.map(({ status }) => status)).toEqual([201, 200, 200, 400, 400]);
  const row = await em().findOneOrFail(AgentServer, { id });
  const events = await em().execute("select * from audit_events where target = ?", [id]);
  expect(events.length).toBeGreaterThan(1);
  const texts = [...responses.map(({ text }) => text), service().logged(), JSON.stringify([row, events])];
  for (const text of texts) expect(text).not.toContain(gateway.token);
});

test("agents that a gateway adds, renames and removes change here too, and a removed one is gone with its data", async () => {
  const gateway = await openGateway();
  const id = await givenServer(gateway);
  const [sales] = (await find(id))!.agent.specialized_agents;
  const token = String(
    (await tenant.rest.post("/v1/tokens", { kind: "gateway_token", name: "Sales", agent_id: sales!.agent_id })).body[
      "token"
    ],
  );
  const client = new GatewayClient(service().service.publicUrl, token);
  expect((await client.call("tools/list")).status).toBe(200);
  gateway.state.agents = [{ id: "main", name: "Chief" }, { id: "support" }];
  await refresh(id, gateway);
  expect((await find(id))!.agent).toMatchObject({ name: "Chief", specialized_agents: [{ name: "support" }] });
  expect((await client.call("tools/list")).status).toBe(401);
  expect(await em().count(Agent, { id: sales!.agent_id })).toBe(0);
});

test("when a gateway has another default agent, the agents keep their ids", async () => {
  const gateway = await openGateway();
  const id = await givenServer(gateway);
  const { agent } = (await find(id))!;
  gateway.state.defaultId = "sales";
  await refresh(id, gateway);
  expect((await find(id))!.agent).toMatchObject({
    agent_id: agent.specialized_agents[0]!.agent_id,
    name: "Sales",
    specialized_agents: [{ agent_id: agent.agent_id, name: "main" }],
  });
});

test("a failed or incomplete list removes no agent, and says why and since when", async () => {
  const gateway = await openGateway();
  const id = await givenServer(gateway);
  const { agent } = (await find(id))!;
  for (const payload of [{ agents: [] }, { agents: [{ id: "main" }], defaultId: "gone" }, { agents: "none" }]) {
    gateway.alter.set("agents.list", (list) => ({ ...list, ...payload }));
    await refresh(id, gateway);
    expect(await find(id)).toMatchObject({ status: "incompatible", status_message: expect.any(String), agent });
  }
  gateway.alter.clear();
  await refresh(id, gateway);
  expect(await find(id)).toMatchObject({ status: "ready", status_message: null, agent });
});

test("a gateway that stops is unreachable with its agents, and ready again when it is back", async () => {
  const gateway = await ScriptedGateway.open();
  const id = await givenServer(gateway);
  const { agent, status_since: readySince } = (await find(id))!;
  await nextMillisecond();
  await gateway[Symbol.asyncDispose]();
  const down = await waitForServer(id, { status: "unreachable" });
  expect(down).toMatchObject({ agent, status_message: expect.stringMatching(/has closed the connection|refuses/) });
  expect(down.status_since > readySince).toBe(true);
  await openGateway({ token: gateway.token, port: Number(new URL(gateway.url).port) });
  await waitForServer(id, { status: "ready", agent });
});

test("a wrong token is reported, and the right one connects", async () => {
  const gateway = await openGateway();
  const { body } = await register({ url: gateway.url, token: "wrong" });
  const id = String(body["server_id"]);
  await waitForServer(id, {
    status: "unauthorized",
    status_message: expect.stringContaining("does not accept the token"),
  });
  const changed = await patch(id, { token: gateway.token });
  expect([changed.status, changed.body]).toEqual([
    200,
    {
      server_id: id,
      name: "Gateway",
      kind: "openclaw",
      url: gateway.url,
      status: "connecting",
      status_since: expect.any(String),
      status_message: null,
    },
  ]);
  await waitForServer(id, { status: "ready" });
});

test("a server moves to another gateway, and the old connection is closed", async () => {
  const [gateway, other] = [await openGateway(), await openGateway()];
  other.state.agents = [{ id: "main", name: "Moved" }];
  const id = await givenServer(gateway);
  await patch(id, { url: other.url, token: other.token });
  await waitForServer(id, { status: "ready", url: other.url, agent: { name: "Moved", specialized_agents: [] } });
  await expect.poll(() => gateway.connections).toBe(0);
});

test("the connection of a deleted server is closed", async () => {
  const gateway = await openGateway();
  const id = await givenServer(gateway);
  expect(gateway.connections).toBe(1);
  expect((await tenant.rest.send("DELETE", `/v1/servers/${id}`, {})).body).toEqual({ status: "deleted" });
  await expect.poll(() => gateway.connections).toBe(0);
  expect(await em().count(Agent, { serverId: id })).toBe(0);
});

test("unreachable gateways do not delay the list or the other gateways", async () => {
  const owner = await service().tenant();
  const gateway = await openGateway();
  const silent = await openGateway();
  silent.misbehavior.set("challenge", "no response");
  await Promise.all(Array.from({ length: 19 }, () => register(silent, owner)));
  await givenServer(gateway, owner);
  const servers = await listServers(owner.rest);
  expect(servers).toHaveLength(21);
  expect(servers.filter(({ status }) => status === "connecting").length).toBeGreaterThan(0);
});

test("agents of a gateway are created, changed and deleted only there", async () => {
  const gateway = await openGateway();
  const id = await givenServer(gateway);
  const { agent } = (await find(id))!;
  const [sales] = agent.specialized_agents;
  const path = `/v1/agents/${sales!.agent_id}`;
  const responses = [
    await tenant.rest.post("/v1/agents", { server_id: id, name: "New" }),
    await tenant.rest.send("PATCH", path, { body: JSON.stringify({ name: "Other" }), headers: json }),
    await tenant.rest.send("DELETE", path, {}),
  ];
  expect(responses.map(({ status, body }) => [status, body["error"]])).toEqual(
    responses.map(() => [409, expect.stringContaining("Change them there")]),
  );
  expect((await find(id))!.agent).toEqual(agent);
});

describe("a request that is not allowed changes nothing", () => {
  const VALID = { name: "Gateway", kind: "openclaw", url: "wss://gateway.example.com", token: "secret" };
  const INVALID: [what: string, change: object, message: RegExp][] = [
    ["no URL", { url: undefined }, /^url and token: are required/],
    ["no token", { token: undefined }, /^url and token: are required/],
    ["an https URL", { url: "https://gateway.example.com" }, /^url: must be a WebSocket URL/],
    ["a private address that is not allowed", { url: "wss://10.0.0.1" }, /^url: must not be in a network/],
    ["a token in the URL", { url: "wss://gateway.example.com?token=x" }, /^url: must have no credentials/],
    ["an empty token", { token: "" }, /^url and token: are required/],
    ["a token with a line break", { token: "a\nb" }, /^token: /],
    ["a token with a NUL character", { token: "a\0b" }, /^token: /],
    ["the name of an agent", { agent_name: "Chief" }, /^agent_name and model: the gateway has them/],
    ["a model", { model: "gpt-6" }, /^agent_name and model: the gateway has them/],
    ["a URL of a managed server", { kind: "managed" }, /^url and token: only a server/],
    ["an unknown kind", { kind: "other" }, /kind/],
  ];

  test.each(INVALID)("registering with %s is refused", async (_what, change, message) => {
    const before = await listServers(tenant.rest);
    const { status, body } = await tenant.rest.post("/v1/servers", { ...VALID, ...change });
    expect([status, body["error"]]).toEqual([400, expect.stringMatching(message)]);
    expect((await listServers(tenant.rest)).length).toBe(before.length);
  });

  test("another URL without the token, which would send the stored token there, is refused", async () => {
    const id = await givenServer(await openGateway());
    const { status, body } = await patch(id, { url: "wss://attacker.example.com" });
    expect([status, body["error"]]).toEqual([400, expect.stringContaining("token: is required with url")]);
    expect((await patch(id, {})).body["error"]).toContain("Nothing to change");
    expect((await patch(id, { url: "wss://10.0.0.1", token: "x" })).status).toBe(400);
    await waitForServer(id, { status: "ready" });
  });

  test("a managed server has no URL and no token", async () => {
    const [managed] = await listServers((await service().tenant()).rest);
    const own = (await listServers(tenant.rest))[0]!;
    expect((await patch(own.server_id, { token: "x" })).status).toBe(409);
    expect((await patch(managed!.server_id, { token: "x" })).status).toBe(404);
  });
});
