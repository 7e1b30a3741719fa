import { describe, expect, test } from "vitest";
import type { Misbehavior } from "../support/agents/scripted-openclaw-gateway.ts";
import type { ListedServer } from "../support/service/main-agent.ts";
import { sharedGateway, succeed } from "../support/service/shared-gateway.ts";

const { service, opened } = sharedGateway();
const set = (input: object) => opened().tools.tool("service_set_agent_instructions", input);

/** A call of each tool that asks the gateway. */
const calls = ({ serverId, mainId } = opened()): [name: string, input: object][] => [
  ["service_list_agent_sessions", { server_id: serverId }],
  ["service_get_session_transcript", { server_id: serverId, session_id: "agent:main:main" }],
  ["service_list_agent_skills", { agent_id: mainId }],
  ["service_get_agent_instructions", { agent_id: mainId }],
  ["service_set_agent_instructions", { agent_id: mainId, content: "Mine" }],
];

test("another organization finds neither the server nor its agents nor its sessions", async () => {
  const { gateway, tools } = opened();
  const other = await service().tenant();
  const foreign = tools.as(other.personal_access_token);
  for (const [name, input] of calls())
    expect(await foreign.tool(name, input)).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^(Server|Agent) not found/),
    });
  const guess = await foreign.tool("service_get_session_transcript", { session_id: "agent:main:main" });
  expect(guess).toMatchObject({ isError: true, text: expect.stringContaining("Session not found") });
  expect(gateway.calls.filter(({ method }) => method !== "agents.list")).toEqual([]);
});

test("while a gateway is unreachable, its tools say so at once, and the other servers are listed with it", async () => {
  const { tenant, gateway, mainId, tools } = opened();
  await gateway[Symbol.asyncDispose]();
  const find = async () => {
    const { servers } = (await succeed(tools, "service_list_agents")) as unknown as { servers: ListedServer[] };
    return servers.map(({ kind, status }) => [kind, status]);
  };
  await expect.poll(find).toEqual([
    ["managed", "ready"],
    ["openclaw", "unreachable"],
  ]);
  for (const [name, input] of calls()) {
    const { isError, text } = await tools.tool(name, input);
    expect([name, isError, text]).toEqual([name, true, expect.stringMatching(/gateway.*Try again later/)]);
    expect(text).not.toContain(new URL(gateway.url).port);
  }
  const { status, headers } = await tenant.rest.get(`/v1/agents/${mainId}/instructions`);
  expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await succeed(tools, "service_list_agent_sessions")).toEqual({ sessions: [], next_cursor: null });
});

test("a gateway that never responds ends the call at its deadline, and delays no other call", async () => {
  const { gateway, mainId, tools } = opened();
  const methods = ["sessions.list", "chat.history", "skills.status", "agents.files.get"];
  for (const method of methods) gateway.misbehavior.set(method, "no response");
  const waiting = Promise.all(calls().map(([name, input]) => tools.tool(name, input)));
  let isWaiting = true;
  void waiting.finally(() => (isWaiting = false));
  const received = () => gateway.calls.filter(({ method }) => methods.includes(method));
  await expect.poll(received).toHaveLength(calls().length);
  expect((await succeed(tools, "service_list_agents"))["servers"]).toHaveLength(2);
  expect(await succeed(tools, "service_get_agent_instructions")).toMatchObject({ content: "" });
  // The calls that one gateway may keep waiting are limited.
  const many = Array.from({ length: 20 }, () => tools.tool("service_list_agent_skills", { agent_id: mainId }));
  expect(await Promise.race(many)).toMatchObject({
    isError: true,
    text: expect.stringContaining("Too many calls wait"),
  });
  expect(isWaiting).toBe(true);
  for (const { isError, text } of await waiting)
    expect([isError, text]).toEqual([true, expect.stringContaining("does not respond in time. Try again later.")]);
  expect((await Promise.all(many)).filter(({ isError }) => !isError)).toEqual([]);
});

describe("a gateway that misbehaves", () => {
  const CASES: Misbehavior[] = ["text that is not JSON", "a response of another form", "1 GB in one message"];

  test.each(CASES)("%s is reported without its text, and nothing changes", async (misbehavior) => {
    const { gateway, mainId } = opened();
    gateway.misbehavior.set("agents.files.get", misbehavior);
    const { isError, text } = await set({ agent_id: mainId, content: "Mine" });
    expect([isError, text]).toEqual([true, expect.stringContaining("Nothing of its response was used")]);
    expect(text).not.toContain("html");
    expect(gateway.state.files["main"]).toBe("# Rules\nBe brief.\n");
    expect(gateway.sentBytes).toBeLessThan(64 * 1024 * 1024);
  });

  test("a gateway that permits only reading says so, and nothing changes", async () => {
    const { gateway, mainId } = opened();
    gateway.alter.set("connect", (hello) => ({ ...hello, auth: { scopes: ["operator.read"] } }));
    const { isError, text } = await set({ agent_id: mainId, content: "Mine" });
    expect([isError, text]).toEqual([true, expect.stringContaining("does not permit")]);
    expect(gateway.state.files["main"]).toBe("# Rules\nBe brief.\n");
  });

  test("an agent that the gateway has removed since the last list is not found", async () => {
    const { gateway, salesId, tools } = opened();
    gateway.state.agents = gateway.state.agents.filter(({ id }) => id !== "sales");
    for (const name of ["service_list_agent_skills", "service_get_agent_instructions"])
      expect(await tools.tool(name, { agent_id: salesId })).toMatchObject({
        isError: true,
        text: expect.stringContaining("Agent not found"),
      });
  });

  test("sessions of agents that are not listed yet are left out", async () => {
    const { gateway, serverId, tools } = opened();
    gateway.state.sessions.push({ ...gateway.state.sessions[1]!, key: "agent:new:main", agentId: "new" });
    const { sessions } = await succeed(tools, "service_list_agent_sessions", { server_id: serverId });
    expect(sessions).toHaveLength(4);
  });

  test("a cursor of another server is rejected", async () => {
    const { serverId, mainId, tools } = opened();
    const cursor = Buffer.from(`2026-11-22T09:00:00.000Z ${mainId}`).toString("base64url");
    const input = { server_id: serverId, cursor };
    expect(await tools.tool("service_list_agent_sessions", input)).toMatchObject({
      isError: true,
      text: expect.stringContaining("cursor: invalid cursor"),
    });
  });
});
