import { beforeAll, expect, test } from "vitest";
import type { TranscriptExcerpt } from "../../domain/sessions/browse-transcript.ts";
import type { SessionPage } from "../../domain/sessions/list-sessions.ts";
import type { NewEntry } from "../../domain/sessions/transcript-entry.ts";
import { RESPONSE_CHARACTERS } from "../../domain/shared/response-budget.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { givenSession, sampleEntries } from "../support/service/given-session.ts";
import type { Tenant } from "../support/service/harness.ts";
import { listServers } from "../support/service/main-agent.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";
import { nextMillisecond } from "../support/next-millisecond.ts";

const service = sharedHarness();
let tenant: Tenant;
let gateway: GatewayClient;

beforeAll(async () => {
  tenant = await service().tenant();
  gateway = new GatewayClient(service().service.publicUrl, tenant.personal_access_token);
});

/** A server with a specialized agent, and the gateway client of this agent. */
async function givenServer() {
  const server = (await tenant.rest.post("/v1/servers", { name: "Office" })).body;
  const server_id = String(server["server_id"]);
  const main = String((server["agent"] as { agent_id: unknown }).agent_id);
  const agent = (await tenant.rest.post("/v1/agents", { server_id, name: "Invoices" })).body;
  const client = new GatewayClient(service().service.publicUrl, String(agent["gateway_token"]));
  return { serverId: server_id, main, specialist: String(agent["agent_id"]), client };
}

const list = async (client: GatewayClient, input: object = {}) =>
  (await client.tool("service_list_agent_sessions", input)).structuredContent as unknown as SessionPage;

interface Page {
  entries: TranscriptExcerpt[];
  before: number | null;
}

const read = async (input: object, client = gateway) =>
  (await client.tool("service_get_session_transcript", input)).structuredContent as unknown as Page;

verifies(
  ["tool.service_list_agent_sessions", "tool.service_list_agent_sessions.tokens"],
  "service_list_agent_sessions lists the sessions of all agents of a server with their token counters, the latest first",
  async () => {
    const { serverId, main, specialist, client } = await givenServer();
    const first = await givenSession(tenant.rest, { agentId: main, title: "Month end", entries: sampleEntries(3) });
    await nextMillisecond();
    const second = await givenSession(tenant.rest, { agentId: specialist });
    const elsewhere = await givenSession(tenant.rest);
    const page = await list(gateway, { server_id: serverId });
    expect(page).toEqual({
      sessions: [
        expect.objectContaining({ session_id: second.session_id, agent_id: specialist, title: null, message_count: 0 }),
        {
          session_id: first.session_id,
          agent_id: main,
          title: "Month end",
          created_at: first.created_at,
          updated_at: first.updated_at,
          message_count: 3,
          tokens: { input: 3, output: 6, cache_read: 9, cache_write: 12, total: 30 },
        },
      ],
      next_cursor: null,
    });
    // A gateway token means the server of its agent, other tokens the first server.
    expect(await list(client)).toEqual(page);
    expect((await list(gateway)).sessions.map(({ session_id: id }) => id)).toEqual([elsewhere.session_id]);
    expect((await list(client, { agent_id: main })).sessions).toMatchObject([{ session_id: first.session_id }]);
    const [default_] = await listServers(tenant.rest);
    expect(await list(client, { server_id: default_!.server_id })).toEqual(await list(gateway));
  },
);

test("a list of many sessions with long titles is read page by page within the response budget", async () => {
  const { serverId, main } = await givenServer();
  const title = "🧾".repeat(100);
  const ids = new Set<string>();
  for (let n = 0; n < 60; n++) ids.add((await givenSession(tenant.rest, { agentId: main, title })).session_id);
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const { text, structuredContent } = await gateway.tool("service_list_agent_sessions", {
      server_id: serverId,
      limit: 100,
      cursor,
    });
    expect(text.length).toBeLessThanOrEqual(RESPONSE_CHARACTERS);
    const page = structuredContent as unknown as SessionPage;
    seen.push(...page.sessions.map(({ session_id: id }) => id));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  expect([seen.length, new Set(seen)]).toEqual([60, ids]);
});

verifies(
  "tool.service_get_session_transcript",
  "service_get_session_transcript returns the end of a transcript, oldest entry first, and reads further back",
  async () => {
    const { serverId, specialist, client } = await givenServer();
    const call: NewEntry = {
      id: "call",
      role: "assistant",
      content: '{"id":7}',
      tool: { name: "pay", call_id: "c1" },
      model: "claude-sonnet-5",
    };
    const result: NewEntry = { id: "result", role: "tool", content: "No funds", tool: { name: "pay", is_error: true } };
    const entries = [...sampleEntries(5), call, result];
    const { session_id } = await givenSession(tenant.rest, { agentId: specialist, entries });
    const created_at = expect.any(String) as string;
    const tail = await read({ session_id, limit: 3 });
    expect(tail).toEqual({
      entries: [
        { seq: 5, role: "assistant", content: "Message 5", created_at },
        { seq: 6, role: "assistant", content: '{"id":7}', tool: { name: "pay", call_id: "c1" }, created_at },
        { seq: 7, role: "tool", content: "No funds", tool: { name: "pay", is_error: true }, created_at },
      ],
      before: 5,
    });
    expect(await read({ session_id, server_id: serverId, before: 5 }, client)).toMatchObject({
      entries: [{ seq: 1 }, { seq: 2 }, { seq: 3 }, { seq: 4 }],
      before: null,
    });
    expect(await read({ session_id, before: 1 })).toEqual({ entries: [], before: null });
    expect(await read({ session_id, before: 10_000_000_000, limit: 1 })).toMatchObject({ entries: [{ seq: 7 }] });
    const [other] = await listServers(tenant.rest);
    const elsewhere = await gateway.tool("service_get_session_transcript", { session_id, server_id: other!.server_id });
    expect(elsewhere).toMatchObject({ isError: true, text: expect.stringContaining("Session not found") });
  },
);

test.each([
  ["letters", "x"],
  ["emoji", "🧾"],
  ["control characters, which JSON escapes", "\u0001"],
  ["quotes", '"'],
])(
  "a transcript of long contents of %s stays within the response budget, and its notes lead to the rest",
  async (_what, character) => {
    const long = character.repeat(60_000);
    const entries = sampleEntries(40).map((entry, index) => (index % 2 === 0 ? entry : { ...entry, content: long }));
    const { session_id } = await givenSession(tenant.rest, { entries });
    const seen: TranscriptExcerpt[] = [];
    let before: number | undefined;
    do {
      const { text, structuredContent } = await gateway.tool("service_get_session_transcript", { session_id, before });
      expect(text.length).toBeLessThanOrEqual(RESPONSE_CHARACTERS);
      const page = structuredContent as unknown as Page;
      seen.unshift(...page.entries);
      before = page.before ?? undefined;
    } while (before !== undefined);
    const [short, cut] = [0, 1].map((parity) => seen.filter((_, index) => index % 2 === parity)) as [
      TranscriptExcerpt[],
      TranscriptExcerpt[],
    ];
    expect(short.map(({ seq, content }) => [seq, content])).toEqual(
      Array.from({ length: 20 }, (_, index) => [2 * index + 1, `Message ${2 * index + 1}`]),
    );
    expect(cut.map(({ seq, note }) => [seq, note])).toEqual(
      Array.from({ length: 20 }, (_, index) => [
        2 * index + 2,
        `The content is cut. It has ${Buffer.byteLength(long)} bytes. To read more of it, pass before: ${2 * index + 3} and limit: 1.`,
      ]),
    );
    expect(cut.every(({ content }) => content.length > 300 && long.startsWith(content))).toBe(true);
    const { text, structuredContent } = await gateway.tool("service_get_session_transcript", {
      session_id,
      before: 41,
      limit: 1,
    });
    expect(text.length).toBeLessThanOrEqual(RESPONSE_CHARACTERS);
    const [single] = (structuredContent as unknown as Page).entries;
    expect(single!.note).toContain("GET /v1/sessions/{id}/transcript returns all of it");
    expect(JSON.stringify(single!.content).length).toBeGreaterThan(20_000);
  },
);

test("a program reads sessions and transcripts with the rights of its caller", async () => {
  await nextMillisecond();
  const { session_id } = await givenSession(tenant.rest, { title: "From a program", entries: sampleEntries(2) });
  const code = `
    const { sessions } = await service.tools.service_list_agent_sessions({ limit: 1 });
    const { entries } = await service.tools.service_get_session_transcript({ session_id: sessions[0].session_id });
    console.log(sessions[0].session_id, sessions[0].title, entries.map(({ content }) => content).join());`;
  const { structuredContent } = await gateway.tool("service_execute", { code });
  expect(structuredContent["stdout"]).toBe(`${session_id} From a program Message 1,Message 2\n`);
});
