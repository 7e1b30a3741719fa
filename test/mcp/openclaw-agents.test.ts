import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { InstructionRevision } from "../../domain/agents/instruction-revision.entity.ts";
import { RESPONSE_CHARACTERS } from "../../domain/shared/response-budget.ts";
import { type Misbehavior, ScriptedGateway, type ScriptedGatewayOptions } from "../support/agents/scripted-gateway.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { givenGateway } from "../support/service/given-gateway.ts";
import type { Tenant } from "../support/service/harness.ts";
import type { ListedServer } from "../support/service/main-agent.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness({ worker: true, config: { agentHostNetworks: ["127.0.0.0/8"] } });
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

let tenant: Tenant;
let gateways: AsyncDisposableStack;
let gateway: ScriptedGateway;
let server: ListedServer;
let tools: GatewayClient;

const openGateway = async (options: ScriptedGatewayOptions = {}) => gateways.use(await ScriptedGateway.open(options));

beforeEach(async () => {
  gateways = new AsyncDisposableStack();
  tenant = await service().tenant();
  gateway = await openGateway();
  server = await givenGateway(tenant, gateway);
  tools = new GatewayClient(service().service.publicUrl, tenant.personal_access_token);
});

afterEach(() => gateways.disposeAsync());

const mainId = () => server.agent.agent_id;
const salesId = () => server.agent.specialized_agents[0]!.agent_id;

/** The client of an agent of the gateway. */
async function asAgent(agentId: string): Promise<GatewayClient> {
  const request = { kind: "gateway_token", name: "Agent", agent_id: agentId };
  const { body } = await tenant.rest.post("/v1/tokens", request);
  return tools.as(String(body["token"]));
}

async function succeed(name: string, input: object = {}, client = tools): Promise<Record<string, unknown>> {
  const { isError, text, structuredContent } = await client.tool(name, input);
  expect([name, isError, isError ? text : ""]).toEqual([name, false, ""]);
  return structuredContent;
}

const read = (client = tools, agentId?: string) =>
  succeed("service_get_agent_instructions", agentId === undefined ? {} : { agent_id: agentId }, client);
const set = (input: object, client = tools) => client.tool("service_set_agent_instructions", input);

verifies(
  ["tool.service_list_agent_sessions", "tool.service_list_agent_sessions.tokens"],
  "the sessions of all agents of an OpenClaw server are listed page by page, with their token counters",
  async () => {
    const listed: Record<string, unknown>[] = [];
    let cursor: unknown;
    do {
      const input = { server_id: server.server_id, limit: 2, ...(typeof cursor === "string" && { cursor }) };
      const page = await succeed("service_list_agent_sessions", input);
      listed.push(...(page["sessions"] as Record<string, unknown>[]));
      cursor = page["next_cursor"];
    } while (cursor !== null);
    expect(listed.map((session) => [session["session_id"], session["agent_id"]])).toEqual([
      ["agent:main:main", mainId()],
      ["agent:sales:main", salesId()],
      ["agent:main:older", mainId()],
      ["agent:main:oldest", mainId()],
    ]);
    expect(listed[0]).toEqual({
      session_id: "agent:main:main",
      agent_id: mainId(),
      title: "Hello there",
      created_at: "2026-11-22T09:00:00.000Z",
      updated_at: "2026-11-22T10:00:00.000Z",
      message_count: null,
      tokens: { input: 103, output: 7, cache_read: 20, cache_write: 0, total: 130 },
    });
    const ofSales = await succeed("service_list_agent_sessions", { agent_id: salesId() });
    expect(ofSales["sessions"]).toMatchObject([{ session_id: "agent:sales:main" }]);
    const { status, body } = await tenant.rest.get(`/v1/sessions?agent_id=${salesId()}`);
    expect([status, body["sessions"]]).toEqual([
      200,
      [expect.objectContaining({ server_id: server.server_id, external_id: "agent:sales:main", closed_at: null })],
    ]);
  },
);

verifies(
  "tool.service_get_session_transcript",
  "the transcript of a session in OpenClaw is read from its end backwards",
  async () => {
    const where = { session_id: "agent:main:main", server_id: server.server_id };
    const end = await succeed("service_get_session_transcript", { ...where, limit: 3 });
    expect(end).toEqual({
      entries: [
        entry(4, "assistant", "Looking."),
        entry(4, "assistant", '{"path":"AGENTS.md"}', { name: "read", call_id: "call_1" }),
        entry(5, "tool", "# Rules", { name: "read", call_id: "call_1", is_error: false }),
        entry(6, "assistant", "It says: Rules"),
      ],
      before: 4,
    });
    expect(await succeed("service_get_session_transcript", { ...where, before: 4 })).toEqual({
      entries: [entry(1, "user", "hello there"), entry(2, "assistant", "Hello"), entry(3, "user", "read AGENTS.md")],
      before: null,
    });
    const path = `/v1/sessions/${encodeURIComponent("agent:main:main")}/transcript?server_id=${server.server_id}&limit=1`;
    expect((await tenant.rest.get(path)).body).toEqual({
      entries: [{ ...entry(6, "assistant", "It says: Rules"), id: null }],
      before: 6,
    });
  },
);

function entry(seq: number, role: string, content: string, tool?: object): object {
  const created_at = new Date(Date.UTC(2026, 10, 22, 9, 0, seq)).toISOString();
  return { seq, role, content, ...(tool !== undefined && { tool }), created_at };
}

test("without server_id, an agent in OpenClaw means its own server, and a stored session its own", async () => {
  const agent = await asAgent(salesId());
  const page = await succeed("service_list_agent_sessions", {}, agent);
  expect(page["sessions"]).toHaveLength(4);
  const { entries } = await succeed("service_get_session_transcript", { session_id: "agent:sales:main" }, agent);
  expect(entries).toMatchObject([{ content: "prices" }, { content: "About prices" }]);
  const [first] = (await tenant.rest.get("/v1/servers")).body["servers"] as [ListedServer];
  const stored = await tenant.rest.post(`/v1/agents/${first.agent.agent_id}/sessions`, { external_id: "run-1" });
  const own = { session_id: stored.body["session_id"] };
  expect(await succeed("service_get_session_transcript", own, agent)).toEqual({ entries: [], before: null });
  const elsewhere = await tools.tool("service_get_session_transcript", { session_id: "agent:sales:main" });
  expect(elsewhere).toMatchObject({ isError: true, text: expect.stringContaining("Session not found") });
});

test("long transcripts of OpenClaw stay within the response budget, and no entry is lost between two pages", async () => {
  const call = (seq: number, index: number) => ({
    type: "toolCall",
    id: `${seq}-${index}`,
    name: "read",
    arguments: { text: "y".repeat(3000) },
  });
  gateway.state.sessions[0]!.messages = Array.from({ length: 40 }, (_, index) => ({
    role: "assistant",
    content: [{ type: "text", text: `${index + 1} ${'"'.repeat(9000)}` }, call(index + 1, 0), call(index + 1, 1)],
    __openclaw: { seq: index + 1 },
  }));
  const where = { session_id: "agent:main:main", server_id: server.server_id };
  const seen: { seq: number; content: string; note?: string; tool?: { call_id: string } }[] = [];
  let before: number | null = 41;
  do {
    const { text, structuredContent } = await tools.tool("service_get_session_transcript", { ...where, before });
    expect(text.length).toBeLessThanOrEqual(RESPONSE_CHARACTERS);
    seen.unshift(...(structuredContent["entries"] as typeof seen));
    before = structuredContent["before"] as number | null;
  } while (before !== null);
  const expected = Array.from({ length: 40 }, (_, index) => index + 1).flatMap((seq) => [
    [seq, undefined],
    [seq, `${seq}-0`],
    [seq, `${seq}-1`],
  ]);
  expect(seen.map(({ seq, tool }) => [seq, tool?.call_id])).toEqual(expected);
  expect(seen[0]!.note).toBe("The content is cut. To read more of it, pass before: 2 and limit: 1.");
  const [single] = (await succeed("service_get_session_transcript", { ...where, before: 2, limit: 1 }))["entries"] as [
    { content: string },
  ];
  expect(single.content.length).toBeGreaterThan(8000);
});

test("of a message with more tool calls than fit into a response, the first ones are shown", async () => {
  const content = Array.from({ length: 50 }, (_, index) => ({
    type: "toolCall",
    id: `call-${index}`,
    name: "read",
    arguments: { text: "y".repeat(3000) },
  }));
  gateway.state.sessions[0]!.messages = [{ role: "assistant", content, __openclaw: { seq: 1 } }];
  const { text, structuredContent } = await tools.tool("service_get_session_transcript", {
    session_id: "agent:main:main",
    server_id: server.server_id,
  });
  expect(text.length).toBeLessThanOrEqual(RESPONSE_CHARACTERS);
  const entries = structuredContent["entries"] as { tool: object; note?: string }[];
  expect(entries[0]!.tool).toEqual({ name: "read", call_id: "call-0" });
  expect(entries.at(-1)!.note).toBe(`${50 - entries.length} more tool calls of this message are left out.`);
});

verifies("tool.service_list_agent_skills", "an agent in OpenClaw has the skills that its gateway lists", async () => {
  expect(await succeed("service_list_agent_skills", {}, await asAgent(mainId()))).toEqual({
    agent_id: mainId(),
    skills: [
      { name: "weather", description: "Use weather", source: "openclaw-bundled", eligible: true, missing: [] },
      expect.objectContaining({ name: "1password", eligible: false, missing: ["program op"] }),
    ],
    note: null,
    next_cursor: null,
  });
  expect((await tenant.rest.get(`/v1/agents/${mainId()}/skills`)).body["skills"]).toHaveLength(2);
});

test("many skills of a gateway are listed in pages within the response budget, each skill once", async () => {
  const names = Array.from({ length: 150 }, (_, index) => `Skill ${String(index).padStart(3, "0")} 🧾`);
  const [sample] = gateway.state.skills;
  gateway.state.skills = names.map((name) => ({ ...sample, name, description: "d".repeat(900) }));
  const listed: string[] = [];
  let cursor: unknown;
  do {
    const input = { agent_id: mainId(), ...(typeof cursor === "string" && { cursor }) };
    const page = await succeed("service_list_agent_skills", input);
    expect(JSON.stringify(page).length).toBeLessThanOrEqual(RESPONSE_CHARACTERS);
    listed.push(...(page["skills"] as { name: string }[]).map(({ name }) => name));
    cursor = page["next_cursor"];
  } while (cursor !== null);
  expect(listed).toEqual(names);
});

describe("instructions", () => {
  verifies(
    [
      "tool.service_get_agent_instructions",
      "tool.service_set_agent_instructions",
      "tool.service_set_agent_instructions.reversible",
    ],
    "the instructions of an agent in OpenClaw are replaced there, a stale hash is refused, and the version before is put back",
    async () => {
      const agent = await asAgent(mainId());
      const rules = "# Rules\nBe brief.\n";
      const before = await read(agent);
      expect(before).toMatchObject({
        agent_id: mainId(),
        content: rules,
        content_hash: sha256(rules),
        revision: 0,
        updated_at: "2026-11-22T09:00:00.000Z",
      });
      const kind = { content: "# Rules\nBe kind.\n", expected_hash: before["content_hash"] };
      expect((await set(kind, agent)).structuredContent).toEqual({
        agent_id: mainId(),
        before: { content: rules, content_hash: sha256(rules) },
        after: { content: kind.content, content_hash: sha256(kind.content) },
        revision: 2,
        previous_revision: 1,
        truncated: false,
        diff: expect.stringContaining("-Be brief.\n+Be kind.\n"),
      });
      expect(gateway.state.files["main"]).toBe(kind.content);
      const stale = await set({ content: "Mine", expected_hash: sha256(rules) }, agent);
      expect(stale).toMatchObject({ isError: true, text: expect.stringContaining(sha256(kind.content)) });
      expect(gateway.state.files["main"]).toBe(kind.content);
      const reverted = (await set({ revert_to: 1 }, agent)).structuredContent;
      expect(reverted).toMatchObject({ after: { content: rules }, revision: 3, previous_revision: 2 });
      expect(gateway.state.files["main"]).toBe(rules);
      expect(await read(agent)).toMatchObject({ revision: 3 });
    },
  );

  test("an edit in OpenClaw is the current version, and is kept as a revision of OpenClaw when it is replaced", async () => {
    await set({ agent_id: mainId(), content: "# One\n" });
    gateway.state.files["main"] = "# Edited there\n";
    const current = await read(tools, mainId());
    expect(current).toMatchObject({ content: "# Edited there\n", revision: 0 });
    const put = (body: object) =>
      tenant.rest.send("PUT", `/v1/agents/${mainId()}/instructions`, {
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      });
    expect((await put({ content: "# Two\n", expected_hash: sha256("# One\n") })).status).toBe(409);
    expect((await put({ content: "# Two\n", expected_hash: current["content_hash"] })).body).toMatchObject({
      revision: 4,
      previous_revision: 3,
    });
    const { body } = await tenant.rest.get(`/v1/agents/${mainId()}/instructions/revisions`);
    expect(body["revisions"]).toMatchObject([
      { number: 4, credential_kind: "api_key", content_hash: sha256("# Two\n") },
      { number: 3, credential_kind: "openclaw", credential_id: server.server_id, user_id: null },
      { number: 2, credential_kind: "personal_access_token" },
      { number: 1, credential_kind: "openclaw" },
    ]);
    const restored = await tenant.rest.post(`/v1/agents/${mainId()}/instructions/revert`, { number: 3 });
    expect([restored.status, gateway.state.files["main"]]).toEqual([200, "# Edited there\n"]);
  });

  test("an agent without a file gets one, and the same content again changes nothing", async () => {
    expect(await read(tools, salesId())).toMatchObject({ content: "", content_hash: sha256(""), revision: 0 });
    const first = await set({ agent_id: salesId(), content: "# Sales\n", expected_hash: sha256("") });
    expect(first.structuredContent).toMatchObject({ revision: 1, previous_revision: 0 });
    const again = await set({ agent_id: salesId(), content: "# Sales\n" });
    expect(again.structuredContent).toMatchObject({ revision: 1, previous_revision: 1, diff: null });
    expect(gateway.calls.filter(({ method }) => method === "agents.files.set")).toHaveLength(1);
  });

  test("the replaced version is stored before the gateway is asked to replace it", async () => {
    const stored: string[] = [];
    gateway.misbehavior.set("agents.files.set", "the end of the connection");
    const { isError, text } = await set({ agent_id: mainId(), content: "# Lost?\n" });
    expect([isError, text]).toEqual([true, expect.stringContaining("It is not known whether the instructions were")]);
    const em = service().service.parts.orm.em.fork();
    for (const { content } of await em.find(InstructionRevision, { agentId: mainId() })) stored.push(content);
    expect(stored).toEqual(["# Rules\nBe brief.\n"]);
    gateway.misbehavior.clear();
    const retried = await set({ agent_id: mainId(), content: "# Lost?\n" });
    expect(retried.structuredContent).toMatchObject({ revision: 2, previous_revision: 1 });
  });

  test("without an expected hash the last of simultaneous changes wins, and every version is kept", async () => {
    const contents = Array.from({ length: 6 }, (_, index) => `# Version ${index}\n`);
    const results = await Promise.all(contents.map((content) => set({ agent_id: mainId(), content })));
    expect(results.map(({ isError, text }) => (isError ? text : ""))).toEqual(contents.map(() => ""));
    const em = service().service.parts.orm.em.fork();
    const revisions = await em.find(InstructionRevision, { agentId: mainId() }, { orderBy: { number: "asc" } });
    expect(revisions.map(({ content }) => content).toSorted()).toEqual(
      ["# Rules\nBe brief.\n", ...contents].toSorted(),
    );
    expect(revisions.at(-1)!.content).toBe(gateway.state.files["main"]);
  });

  test("an agent reads the instructions of another agent of its gateway, and cannot replace them", async () => {
    const agent = await asAgent(salesId());
    expect(await read(agent, mainId())).toMatchObject({ content: "# Rules\nBe brief.\n" });
    const refused = await set({ agent_id: mainId(), content: "Replaced" }, agent);
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining("only its own agent") });
    expect(gateway.state.files["main"]).toBe("# Rules\nBe brief.\n");
    expect((await set({ content: "Own" }, agent)).isError).toBe(false);
    expect(gateway.state.files["sales"]).toBe("Own");
  });
});

/** A call of each tool that asks the gateway. */
const calls = (): [name: string, input: object][] => [
  ["service_list_agent_sessions", { server_id: server.server_id }],
  ["service_get_session_transcript", { server_id: server.server_id, session_id: "agent:main:main" }],
  ["service_list_agent_skills", { agent_id: mainId() }],
  ["service_get_agent_instructions", { agent_id: mainId() }],
  ["service_set_agent_instructions", { agent_id: mainId(), content: "Mine" }],
];

test("another organization finds neither the server nor its agents nor its sessions", async () => {
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
  await gateway[Symbol.asyncDispose]();
  const find = async () => {
    const { servers } = (await succeed("service_list_agents")) as unknown as { servers: ListedServer[] };
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
  const { status, headers } = await tenant.rest.get(`/v1/agents/${mainId()}/instructions`);
  expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await succeed("service_list_agent_sessions")).toEqual({ sessions: [], next_cursor: null });
  gateways = new AsyncDisposableStack();
});

test("a gateway that never responds ends the call at its deadline, and delays no other call", async () => {
  for (const method of ["sessions.list", "chat.history", "skills.status", "agents.files.get"])
    gateway.misbehavior.set(method, "no response");
  const waiting = Promise.all(calls().map(([name, input]) => tools.tool(name, input)));
  let isWaiting = true;
  void waiting.finally(() => (isWaiting = false));
  expect((await succeed("service_list_agents"))["servers"]).toHaveLength(2);
  expect(await read()).toMatchObject({ content: "" });
  expect(isWaiting).toBe(true);
  for (const { isError, text } of await waiting)
    expect([isError, text]).toEqual([true, expect.stringContaining("does not respond in time. Try again later.")]);
});

describe("a gateway that misbehaves", () => {
  const CASES: Misbehavior[] = ["text that is not JSON", "a response of another form", "1 GB in one message"];

  test.each(CASES)("%s is reported without its text, and nothing changes", async (misbehavior) => {
    gateway.misbehavior.set("agents.files.get", misbehavior);
    const { isError, text } = await set({ agent_id: mainId(), content: "Mine" });
    expect([isError, text]).toEqual([true, expect.stringContaining("Nothing of its response was used")]);
    expect(text).not.toContain("html");
    expect(gateway.state.files["main"]).toBe("# Rules\nBe brief.\n");
    expect(gateway.sentBytes).toBeLessThan(64 * 1024 * 1024);
  });

  test("a gateway that permits only reading says so, and nothing changes", async () => {
    gateway.alter.set("connect", (hello) => ({ ...hello, auth: { scopes: ["operator.read"] } }));
    const { isError, text } = await set({ agent_id: mainId(), content: "Mine" });
    expect([isError, text]).toEqual([true, expect.stringContaining("does not permit")]);
    expect(gateway.state.files["main"]).toBe("# Rules\nBe brief.\n");
  });

  test("an agent that the gateway has removed since the last list is not found", async () => {
    gateway.state.agents = gateway.state.agents.filter(({ id }) => id !== "sales");
    for (const name of ["service_list_agent_skills", "service_get_agent_instructions"])
      expect(await tools.tool(name, { agent_id: salesId() })).toMatchObject({
        isError: true,
        text: expect.stringContaining("Agent not found"),
      });
  });

  test("sessions of agents that are not listed yet are left out", async () => {
    gateway.state.sessions.push({ ...gateway.state.sessions[1]!, key: "agent:new:main", agentId: "new" });
    const { sessions } = await succeed("service_list_agent_sessions", { server_id: server.server_id });
    expect(sessions).toHaveLength(4);
  });

  test("a cursor of another server is rejected", async () => {
    const cursor = Buffer.from(`2026-11-22T09:00:00.000Z ${mainId()}`).toString("base64url");
    const input = { server_id: server.server_id, cursor };
    expect(await tools.tool("service_list_agent_sessions", input)).toMatchObject({
      isError: true,
      text: expect.stringContaining("cursor: invalid cursor"),
    });
  });
});

test("sessions, skills and a runtime of an agent in OpenClaw are stored only there", async () => {
  const put = (path: string, body: object) =>
    tenant.rest.send("PUT", path, { body: JSON.stringify(body), headers: { "content-type": "application/json" } });
  const files = [{ path: "SKILL.md", content: "---\nname: notes\ndescription: Takes notes\n---\n" }];
  expect((await put("/v1/skills/notes", { files })).status).toBe(200);
  const refused = [
    await tenant.rest.post(`/v1/agents/${mainId()}/sessions`, { external_id: "run-1" }),
    await put(`/v1/agents/${mainId()}/runtime`, { platform: "linux" }),
    await put(`/v1/agents/${mainId()}/skills/notes`, { enabled: true }),
    await put("/v1/skills/notes", { files, agent_ids: [mainId()] }),
  ];
  expect(refused.map(({ status, body }) => [status, body["error"]])).toEqual(
    refused.map(() => [409, expect.stringContaining("in an OpenClaw gateway")]),
  );
});
