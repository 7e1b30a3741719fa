import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { RESPONSE_CHARACTERS } from "../../domain/shared/response-budget.ts";
import { findSample } from "../domain/sessions/import/samples.ts";
import type { ListedServer } from "../support/service/main-agent.ts";
import { sharedGateway, succeed } from "../support/service/shared-gateway.ts";
import { verifies } from "../support/verifies.ts";

const { opened } = sharedGateway();

verifies(
  ["tool.service_list_agent_sessions", "tool.service_list_agent_sessions.tokens"],
  "the sessions of all agents of an OpenClaw server are listed page by page, with their token counters",
  async () => {
    const { tenant, serverId, mainId, salesId, tools } = opened();
    const listed: Record<string, unknown>[] = [];
    let cursor: unknown;
    do {
      const input = { server_id: serverId, limit: 2, ...(typeof cursor === "string" && { cursor }) };
      const page = await succeed(tools, "service_list_agent_sessions", input);
      listed.push(...(page["sessions"] as Record<string, unknown>[]));
      cursor = page["next_cursor"];
    } while (cursor !== null);
    expect(listed.map((session) => [session["session_id"], session["agent_id"]])).toEqual([
      ["agent:main:main", mainId],
      ["agent:sales:main", salesId],
      ["agent:main:older", mainId],
      ["agent:main:oldest", mainId],
    ]);
    expect(listed[0]).toEqual({
      session_id: "agent:main:main",
      agent_id: mainId,
      title: "Hello there",
      created_at: "2026-11-22T09:00:00.000Z",
      updated_at: "2026-11-22T10:00:00.000Z",
      message_count: null,
      tokens: { input: 103, output: 7, cache_read: 20, cache_write: 0, total: 130 },
    });
    const ofSales = await succeed(tools, "service_list_agent_sessions", { agent_id: salesId });
    expect(ofSales["sessions"]).toMatchObject([{ session_id: "agent:sales:main" }]);
    const { status, body } = await tenant.rest.get(`/v1/sessions?agent_id=${salesId}`);
    expect([status, body["sessions"]]).toEqual([
      200,
      [expect.objectContaining({ server_id: serverId, external_id: "agent:sales:main", closed_at: null })],
    ]);
  },
);

verifies(
  "tool.service_get_session_transcript",
  "the transcript of a session in OpenClaw is read from its end backwards",
  async () => {
    const { tenant, serverId, tools } = opened();
    const where = { session_id: "agent:main:main", server_id: serverId };
    const end = await succeed(tools, "service_get_session_transcript", { ...where, limit: 3 });
    expect(end).toEqual({
      entries: [
        entry(4, "assistant", "Looking."),
        entry(4, "assistant", '{"path":"AGENTS.md"}', { name: "read", call_id: "call_1" }),
        entry(5, "tool", "# Rules", { name: "read", call_id: "call_1", is_error: false }),
        entry(6, "assistant", "It says: Rules"),
      ],
      before: 4,
    });
    expect(await succeed(tools, "service_get_session_transcript", { ...where, before: 4 })).toEqual({
      entries: [entry(1, "user", "hello there"), entry(2, "assistant", "Hello"), entry(3, "user", "read AGENTS.md")],
      before: null,
    });
    const path = `/v1/sessions/${encodeURIComponent("agent:main:main")}/transcript?server_id=${serverId}&limit=1`;
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
  const { tenant, salesId, tools, asAgent } = opened();
  const agent = await asAgent(salesId);
  const page = await succeed(agent, "service_list_agent_sessions", {});
  expect(page["sessions"]).toHaveLength(4);
  const { entries } = await succeed(agent, "service_get_session_transcript", { session_id: "agent:sales:main" });
  expect(entries).toMatchObject([{ content: "prices" }, { content: "About prices" }]);
  const [first] = (await tenant.rest.get("/v1/servers")).body["servers"] as [ListedServer];
  const stored = await tenant.rest.post(`/v1/agents/${first.agent.agent_id}/sessions`, { external_id: "run-1" });
  const own = { session_id: stored.body["session_id"] };
  expect(await succeed(agent, "service_get_session_transcript", own)).toEqual({ entries: [], before: null });
  const elsewhere = await tools.tool("service_get_session_transcript", { session_id: "agent:sales:main" });
  expect(elsewhere).toMatchObject({ isError: true, text: expect.stringContaining("Session not found") });
});

test("long transcripts of OpenClaw stay within the response budget, and no entry is lost between two pages", async () => {
  const { gateway, serverId, tools } = opened();
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
  const where = { session_id: "agent:main:main", server_id: serverId };
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
  const [single] = (await succeed(tools, "service_get_session_transcript", { ...where, before: 2, limit: 1 }))[
    "entries"
  ] as [{ content: string }];
  expect(single.content.length).toBeGreaterThan(8000);
});

test("of a message with more tool calls than fit into a response, the first ones are shown", async () => {
  const { gateway, serverId, tools } = opened();
  const content = Array.from({ length: 50 }, (_, index) => ({
    type: "toolCall",
    id: `call-${index}`,
    name: "read",
    arguments: { text: "y".repeat(3000) },
  }));
  gateway.state.sessions[0]!.messages = [{ role: "assistant", content, __openclaw: { seq: 1 } }];
  const { text, structuredContent } = await tools.tool("service_get_session_transcript", {
    session_id: "agent:main:main",
    server_id: serverId,
  });
  expect(text.length).toBeLessThanOrEqual(RESPONSE_CHARACTERS);
  const entries = structuredContent["entries"] as { tool: object; note?: string }[];
  expect(entries[0]!.tool).toEqual({ name: "read", call_id: "call-0" });
  expect(entries.at(-1)!.note).toBe(`${50 - entries.length} more tool calls of this message are left out.`);
});

verifies("tool.service_list_agent_skills", "an agent in OpenClaw has the skills that its gateway lists", async () => {
  const { tenant, mainId, asAgent } = opened();
  expect(await succeed(await asAgent(mainId), "service_list_agent_skills")).toEqual({
    agent_id: mainId,
    skills: [
      { name: "weather", description: "Use weather", source: "openclaw-bundled", eligible: true, missing: [] },
      expect.objectContaining({ name: "1password", eligible: false, missing: ["program op"] }),
    ],
    note: null,
    next_cursor: null,
  });
  expect((await tenant.rest.get(`/v1/agents/${mainId}/skills`)).body["skills"]).toHaveLength(2);
});

test("many skills of a gateway are listed in pages within the response budget, each skill once", async () => {
  const { gateway, mainId, tools } = opened();
  const names = Array.from({ length: 150 }, (_, index) => `Skill ${String(index).padStart(3, "0")} 🧾`);
  const [sample] = gateway.state.skills;
  gateway.state.skills = names.map((name) => ({ ...sample, name, description: "d".repeat(900) }));
  const listed: string[] = [];
  let cursor: unknown;
  do {
    const input = { agent_id: mainId, ...(typeof cursor === "string" && { cursor }) };
    const page = await succeed(tools, "service_list_agent_skills", input);
    expect(JSON.stringify(page).length).toBeLessThanOrEqual(RESPONSE_CHARACTERS);
    listed.push(...(page["skills"] as { name: string }[]).map(({ name }) => name));
    cursor = page["next_cursor"];
  } while (cursor !== null);
  expect(listed).toEqual(names);
});

test("sessions, skills and a runtime of an agent in OpenClaw are stored only there", async () => {
  const { tenant, mainId } = opened();
  const put = (path: string, body: object) =>
    tenant.rest.send("PUT", path, { body: JSON.stringify(body), headers: { "content-type": "application/json" } });
  const files = [{ path: "SKILL.md", content: "---\nname: notes\ndescription: Takes notes\n---\n" }];
  expect((await put("/v1/skills/notes", { files })).status).toBe(200);
  const records = await readFile(findSample("claude-code/session").file, "utf8");
  const refused = [
    await tenant.rest.send("POST", `/v1/agents/${mainId}/sessions/import`, {
      body: records,
      headers: { "content-type": "application/x-ndjson" },
    }),
    await tenant.rest.post(`/v1/agents/${mainId}/sessions`, { external_id: "run-1" }),
    await put(`/v1/agents/${mainId}/runtime`, { platform: "linux" }),
    await put(`/v1/agents/${mainId}/skills/notes`, { enabled: true }),
    await put("/v1/skills/notes", { files, agent_ids: [mainId] }),
  ];
  expect(refused.map(({ status, body }) => [status, body["error"]])).toEqual(
    refused.map(() => [409, expect.stringContaining("in an OpenClaw gateway")]),
  );
});
