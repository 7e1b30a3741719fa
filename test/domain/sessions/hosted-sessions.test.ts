import { beforeAll, expect, test } from "vitest";
import type { OpenHostDeps } from "../../../domain/agents/open-host.ts";
import {
  AgentHostError,
  type AgentHost,
  type HostedEntry,
  type HostedSession,
} from "../../../domain/ports/agent-host.ts";
import { browseTranscript } from "../../../domain/sessions/browse-transcript.ts";
import { listSessions } from "../../../domain/sessions/list-sessions.ts";
import { readTranscript } from "../../../domain/sessions/read-transcript.ts";
import { listStoredSessions } from "../../../domain/sessions/stored-sessions.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import { RESPONSE_CHARACTERS } from "../../../domain/shared/response-budget.ts";
import { givenSession } from "../../support/service/given-session.ts";
import { listServers } from "../../support/service/main-agent.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
let caller: Caller;
let agentId: string;
let serverId: string;

beforeAll(async () => {
  const tenant = await service().tenant();
  const [server] = await listServers(tenant.rest);
  [serverId, agentId] = [server!.server_id, server!.agent.agent_id];
  const credential = { kind: "api_key", id: "test" } as const;
  caller = { orgId: tenant.org_id, userId: null, role: "admin", scope: "everything", credential };
});

/** The host of the organization's server is a scripted one. */
function withHost(host: Partial<AgentHost>): OpenHostDeps {
  return { ...service().service.parts.service, managedHost: () => host as AgentHost };
}

const CREATED = "2026-03-01T00:00:00.000Z";

function hosted(seq: number, fields: Partial<HostedEntry> = {}): HostedEntry {
  const content = `Message ${seq}`;
  const absent = { id: null, bytes: null, tool: null, model: null, usage: null, createdAt: null };
  return { seq, role: "assistant", content, ...absent, ...fields };
}

/** Browses a session whose host returns these entries, the newest first. */
function browse(entries: HostedEntry[], { limit = 10, hasMore = false } = {}) {
  const requests: unknown[] = [];
  const access = withHost({
    readTranscript: async (request) => {
      requests.push(request);
      return { entries, hasMore };
    },
  });
  return browseTranscript(access, caller, { session_id: "main", limit }).then((page) => ({ ...page, requests }));
}

test("an entry has what its host knows of it", async () => {
  const tool = { name: "pay", call_id: "c1", is_error: true };
  const usage = { input: 1, output: 2, cache_read: 3, cache_write: 4 };
  const full = hosted(2, { id: "e2", tool, model: "claude", usage, createdAt: new Date(CREATED) });
  const shown = { seq: 2, role: "assistant", content: "Message 2", tool, created_at: CREATED };
  const minimal = { seq: 1, role: "assistant", content: "Message 1", created_at: null };
  const page = await browse([full, hosted(1)]);
  expect(page).toMatchObject({ before: null });
  expect(page.entries).toEqual([minimal, shown]);
  const access = withHost({ readTranscript: async () => ({ entries: [full, hosted(1)], hasMore: true }) });
  expect(await readTranscript(access, caller, { session_id: "main", limit: 2 })).toEqual({
    entries: [
      { ...minimal, id: null },
      { ...shown, id: "e2", model: "claude", usage },
    ],
    before: 1,
  });
});

test("each content gets its share of a response, of at least 2,000 characters", async () => {
  for (const [limit, share] of [
    [1, 22_800],
    [4, 4950],
    [7, 2400],
    [8, 2000],
    [200, 2000],
  ] as const) {
    const whole = hosted(2, { content: "x".repeat(share) });
    const cut = hosted(1, { content: "x".repeat(share + 1), bytes: 30_000 });
    const { entries, requests } = await browse([whole], { limit });
    expect(requests).toEqual([{ sessionId: "main", limit, before: undefined, maxCharacters: share + 1 }]);
    expect(entries).toEqual([{ seq: 2, role: "assistant", content: whole.content, created_at: null }]);
    const [shown] = (await browse([cut], { limit })).entries;
    expect(shown!.content).toBe(whole.content);
    expect(shown!.note).toBe(
      limit === 1
        ? "The content is cut. It has 30000 bytes. GET /v1/sessions/{id}/transcript returns all of it."
        : "The content is cut. It has 30000 bytes. To read more of it, pass before: 2 and limit: 1.",
    );
  }
});

test("the note of a cut content says where the whole one is, if its host does not tell the size", async () => {
  const cut = hosted(3, { content: "x".repeat(30_000) });
  const noteOf = async (limit: number) => (await browse([cut], { limit })).entries[0]!.note;
  expect(await noteOf(1)).toBe("The content is cut. The gateway has all of it.");
  expect(await noteOf(2)).toBe("The content is cut. To read more of it, pass before: 4 and limit: 1.");
});

test("a page has only messages that fit with all of their calls, and the next page begins before them", async () => {
  const calls = (seq: number) => [
    hosted(seq, { content: "x".repeat(2000) }),
    hosted(seq, { content: "y".repeat(2000) }),
  ];
  const all = [9, 8, 7, 6, 5, 4, 3, 2, 1].flatMap(calls);
  const { entries, before } = await browse(all, { limit: 100 });
  expect([entries.map(({ seq }) => seq), before]).toEqual([[5, 5, 6, 6, 7, 7, 8, 8, 9, 9], 5]);
  expect(entries[0]!.content).toMatch(/^y/);
  const whole = await browse(all.slice(0, 4), { limit: 100 });
  expect([whole.entries.length, whole.before]).toEqual([4, null]);
  expect((await browse(all.slice(0, 4), { limit: 100, hasMore: true })).before).toBe(8);
});

test("of a message with too many calls, the first ones are shown with the number of the others", async () => {
  const calls = Array.from({ length: 60 }, (_, index) => hosted(5, { content: `${index} ${"x".repeat(500)}` }));
  const { entries, before } = await browse(calls.toReversed(), { limit: 100 });
  expect(JSON.stringify(entries).length).toBeLessThanOrEqual(RESPONSE_CHARACTERS - 200);
  expect(entries.map(({ content }) => content.split(" ")[0])).toEqual(
    Array.from({ length: entries.length }, (_, index) => `${index}`),
  );
  expect(entries.length).toBeGreaterThan(35);
  expect(entries.map(({ note }) => note)).toEqual([
    ...entries.slice(1).map(() => undefined),
    `${60 - entries.length} more tool calls of this message are left out.`,
  ]);
  expect(before).toBeNull();
  const older = await browse([...calls.toReversed(), hosted(4)], { limit: 100 });
  expect([older.entries[0]!.seq, older.before]).toEqual([5, 5]);
});

test("a message whose calls fit has no note, and a session without entries an empty page", async () => {
  const calls = [2, 1, 0].map((index) => hosted(5, { content: `call ${index}` }));
  const { entries } = await browse(calls);
  expect(entries.map(({ content, note }) => [content, note])).toEqual([
    ["call 0", undefined],
    ["call 1", undefined],
    ["call 2", undefined],
  ]);
  expect(await browse([])).toMatchObject({ entries: [], before: null });
});

test("a session that the host does not have is not found", async () => {
  const access = withHost({
    readTranscript: () => Promise.reject(new AgentHostError("not_found", "The server has no such session.")),
  });
  await expect(readTranscript(access, caller, { session_id: "main", limit: 1 })).rejects.toMatchObject({
    code: "not_found",
    message: expect.stringContaining("Session not found"),
  });
});

function session(id: string, fields: Partial<HostedSession> = {}): HostedSession {
  const tokens = { input: 1, output: 2, cache_read: 3, cache_write: 4, total: 10 };
  const time = new Date(CREATED);
  const times = { createdAt: time, updatedAt: time, closedAt: null };
  return { id, externalId: `external-${id}`, agentId, title: null, ...times, messageCount: null, tokens, ...fields };
}

function list(sessions: HostedSession[], next: string | null) {
  const requests: unknown[] = [];
  const access = withHost({
    listSessions: async (request) => {
      requests.push(request);
      return { items: sessions.map((item) => ({ item, cursor: `after-${item.id}` })), next };
    },
  });
  return listSessions(access, caller, { limit: 100, cursor: "here" }).then((page) => ({ ...page, requests }));
}

test("sessions are listed with all that their host knows of them", async () => {
  const closed = session("a", { closedAt: new Date(CREATED), messageCount: 7, title: "Bills" });
  const { sessions, next_cursor: next, requests } = await list([closed, session("b")], "next");
  expect([next, requests]).toEqual(["next", [{ agentId: null, limit: 100, cursor: "here" }]]);
  const expected = {
    session_id: "a",
    external_id: "external-a",
    server_id: serverId,
    agent_id: agentId,
    title: "Bills",
    created_at: CREATED,
    updated_at: CREATED,
    closed_at: CREATED,
    message_count: 7,
    tokens: closed.tokens,
  };
  expect(sessions[0]).toEqual(expected);
  expect(sessions[1]).toMatchObject({ session_id: "b", closed_at: null, message_count: null });
});

test("sessions of agents that are not listed are left out", async () => {
  const { sessions, next_cursor: next } = await list([session("a", { agentId: "unknown" }), session("b")], null);
  expect([sessions.map(({ session_id: id }) => id), next]).toEqual([["b"], null]);
});

test("a page ends where the sessions exceed a response, and continues after its last session", async () => {
  const title = "x".repeat(200);
  const ids = Array.from({ length: 60 }, (_, index) => `${index}`);
  const { sessions, next_cursor: next } = await list(
    ids.map((id) => session(id, { title })),
    null,
  );
  expect(JSON.stringify(sessions).length).toBeLessThanOrEqual(RESPONSE_CHARACTERS - 200);
  expect(sessions.map(({ session_id: id }) => id)).toEqual(ids.slice(0, sessions.length));
  expect(sessions.length).toBeGreaterThan(30);
  expect(next).toBe(`after-${sessions.length - 1}`);
});

test("the stored sessions of a server are listed page by page, with the times of their ends", async () => {
  const { rest, org_id: orgId } = await service().tenant();
  const [server] = await listServers(rest);
  const ids = new Set<string>();
  for (let count = 0; count < 4; count++) ids.add((await givenSession(rest)).session_id);
  const [closed] = ids;
  await rest.post(`/v1/sessions/${closed}/close`, {});
  const list = (limit: number, cursor?: string) =>
    listStoredSessions(service().service.parts.db, { id: server!.server_id, orgId }, { agentId: null, limit, cursor });
  const whole = await list(4);
  expect([new Set(whole.items.map(({ item }) => item.id)), whole.next]).toEqual([ids, null]);
  const ended = whole.items.filter(({ item }) => item.closedAt !== null);
  expect(ended).toMatchObject([{ item: { id: closed, closedAt: expect.any(Date) } }]);
  const first = await list(3);
  expect([first.items, first.next]).toEqual([whole.items.slice(0, 3), whole.items[2]!.cursor]);
  expect(await list(3, String(first.next))).toEqual({ items: whole.items.slice(3), next: null });
  await expect(list(1, "made-up")).rejects.toMatchObject({ name: "AgentHostError", code: "invalid_cursor" });
});
