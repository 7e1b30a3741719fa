import { beforeAll, expect, test } from "vitest";
import { AuditEvent } from "../../domain/audit/audit-event.entity.ts";
import type { SessionView } from "../../domain/sessions/session-view.ts";
import type { NewEntry } from "../../domain/sessions/transcript-entry.ts";
import { givenSession, sampleEntries } from "../support/service/given-session.ts";
import type { Tenant } from "../support/service/harness.ts";
import { listServers, mainAgentId } from "../support/service/main-agent.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { nextMillisecond } from "../support/next-millisecond.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness();
let tenant: Tenant;
let agentId: string;

beforeAll(async () => {
  tenant = await service().tenant();
  agentId = await mainAgentId(tenant.rest);
});

const append = (id: string, entries: unknown, { rest } = tenant) =>
  rest.post(`/v1/sessions/${id}/entries`, { entries });
const open = (body: object, { rest } = tenant, agent = agentId) => rest.post(`/v1/agents/${agent}/sessions`, body);
const close = (id: string, { rest } = tenant) => rest.post(`/v1/sessions/${id}/close`, {});
const transcript = (id: string, query = "", { rest } = tenant) => rest.get(`/v1/sessions/${id}/transcript${query}`);

interface Page {
  entries: (NewEntry & { seq: number })[];
  before: number | null;
}

test("opening a session with the same external id returns the same session, unchanged", async () => {
  const opened = await open({
    external_id: "run-1",
    title: "Invoices of May",
    created_at: "2026-05-01T10:00:00+02:00",
  });
  expect([opened.status, opened.body]).toEqual([
    201,
    {
      session_id: expect.any(String),
      external_id: "run-1",
      server_id: (await listServers(tenant.rest))[0]!.server_id,
      agent_id: agentId,
      title: "Invoices of May",
      created_at: "2026-05-01T08:00:00.000Z",
      updated_at: "2026-05-01T08:00:00.000Z",
      closed_at: null,
      message_count: 0,
      tokens: { input: 0, output: 0, cache_read: 0, cache_write: 0, total: 0 },
    },
  ]);
  const again = await Promise.all([1, 2, 3].map(() => open({ external_id: "run-1", title: "Another title" })));
  for (const { status, body } of again) expect([status, body]).toEqual([201, opened.body]);
  const { agent_id: other } = await givenAgent();
  expect((await open({ external_id: "run-1" }, tenant, other)).body["session_id"]).not.toBe(opened.body["session_id"]);
});

test("simultaneous requests with a new external id open one session", async () => {
  const ids = await Promise.all([1, 2, 3, 4].map(async () => (await open({ external_id: "once" })).body["session_id"]));
  expect([new Set(ids).size, ids[0]]).toEqual([1, expect.any(String)]);
});

async function givenAgent({ rest } = tenant): Promise<{ agent_id: string }> {
  const { server_id } = (await listServers(rest))[0]!;
  return (await rest.post("/v1/agents", { server_id, name: "Specialist" })).body as never;
}

verifies(
  "sessions.append",
  "appended entries are in the transcript as they were sent, and add to the counters of the session",
  async () => {
    const { session_id: id, created_at } = await givenSession(tenant.rest);
    const entries: NewEntry[] = [
      { id: "m1", role: "system", content: "" },
      { id: "m2", role: "user", content: "Pay 🧾 №7\n\u001b[1mnow" },
      {
        id: "m3",
        role: "assistant",
        content: '{"invoice":7}',
        tool: { name: "pay_invoice", call_id: "call_1" },
        model: "claude-sonnet-5",
        usage: { input: 10, output: 20, cache_read: 1_000_000_000, cache_write: 0 },
      },
      { id: "m4", role: "tool", content: "Paid", tool: { name: "pay_invoice", call_id: "call_1", is_error: false } },
    ];
    expect((await append(id, entries)).body).toEqual({ added: 4, last_seq: 4 });
    const { body } = await transcript(id);
    const created = { created_at: expect.stringMatching(/^20\d\d-.*\.\d{3}Z$/) };
    expect(body).toEqual({
      entries: entries.map((entry, at) => ({ seq: at + 1, ...entry, ...created })),
      before: null,
    });
    const session = (await tenant.rest.get(`/v1/sessions/${id}`)).body as unknown as SessionView;
    expect(session).toMatchObject({
      created_at,
      updated_at: (body as unknown as Page).entries[3]!.created_at,
      message_count: 4,
      tokens: { input: 10, output: 20, cache_read: 1_000_000_000, cache_write: 0, total: 1_000_000_030 },
    });
  },
);

test("an entry whose id is stored is left out, whatever its content is, and the first of a batch wins", async () => {
  const { session_id: id } = await givenSession(tenant.rest, { entries: sampleEntries(2) });
  const changed = sampleEntries(3).map((entry) => ({ ...entry, content: "Changed" }));
  const twice = [changed[1], changed[2], { ...changed[2], content: "Changed twice" }, changed[0]];
  expect((await append(id, twice)).body).toEqual({ added: 1, last_seq: 3 });
  expect((await append(id, twice)).body).toEqual({ added: 0, last_seq: 3 });
  const { entries } = (await transcript(id)).body as unknown as Page;
  expect(entries.map(({ seq, content }) => [seq, content])).toEqual([
    [1, "Message 1"],
    [2, "Message 2"],
    [3, "Changed"],
  ]);
  const { body } = await tenant.rest.get(`/v1/sessions/${id}`);
  expect(body["tokens"]).toEqual({ input: 3, output: 6, cache_read: 9, cache_write: 12, total: 30 });
});

test("a session is as new as its newest entry, and entries can be older than the session", async () => {
  const opened = await open({ external_id: "imported", created_at: "2026-03-01T00:00:00Z" });
  const id = String(opened.body["session_id"]);
  const [first, second] = sampleEntries(2) as [NewEntry, NewEntry];
  await append(id, [
    { ...first, created_at: "2026-03-05T12:00:00Z" },
    { ...second, created_at: "2026-02-01T12:00:00.1234Z" },
  ]);
  const { entries } = (await transcript(id)).body as unknown as Page;
  expect(entries.map(({ created_at }) => created_at)).toEqual(["2026-03-05T12:00:00.000Z", "2026-02-01T12:00:00.123Z"]);
  expect((await tenant.rest.get(`/v1/sessions/${id}`)).body["updated_at"]).toBe("2026-03-05T12:00:00.000Z");
});

verifies(
  "sessions.change",
  "409 a closed session accepts no entries, and closing it again changes nothing",
  async () => {
    const { session_id: id } = await givenSession(tenant.rest, { entries: sampleEntries(1) });
    const closed = await close(id);
    expect([closed.status, closed.body["closed_at"]]).toEqual([200, expect.stringMatching(/Z$/)]);
    expect((await close(id)).body).toEqual(closed.body);
    const rejected = await append(id, sampleEntries(1, 2));
    expect([rejected.status, rejected.body["error"]]).toEqual([409, expect.stringContaining("The session is closed")]);
    expect((await transcript(id)).body["entries"]).toHaveLength(1);
  },
);

test("the transcript is read backwards page by page", async () => {
  const { session_id: id } = await givenSession(tenant.rest, { entries: sampleEntries(7) });
  const seen: number[][] = [];
  let query = "?limit=3";
  for (;;) {
    const { entries, before } = (await transcript(id, query)).body as unknown as Page;
    seen.push(entries.map(({ seq }) => seq));
    if (before === null) break;
    query = `?limit=3&before=${before}`;
  }
  expect(seen).toEqual([[5, 6, 7], [2, 3, 4], [1]]);
  expect((await transcript(id, "?before=1")).body).toEqual({ entries: [], before: null });
  for (const before of [8, 2 ** 31, 999_999_999_999_999])
    expect((await transcript(id, `?limit=2&before=${before}`)).body).toMatchObject({ entries: [{}, { seq: 7 }] });
  expect((await transcript((await givenSession(tenant.rest)).session_id)).body).toEqual({ entries: [], before: null });
});

test("a page of a transcript has at most 1 MiB of content, and at least one entry", async () => {
  const content = "é".repeat(131_072);
  const large = sampleEntries(9).map((entry) => ({ ...entry, content }));
  const { session_id: id } = await givenSession(tenant.rest, { entries: large });
  for (const query of ["", "?limit=5"]) {
    const { entries, before } = (await transcript(id, query)).body as unknown as Page;
    expect([entries.map(({ seq }) => seq), before]).toEqual([[6, 7, 8, 9], 6]);
    expect(entries[0]!.content).toBe(content);
  }
});

verifies(
  "sessions.list",
  "the sessions of a server are listed page by page, the latest updated first, and by agent",
  async () => {
    const owner = await service().tenant();
    const { agent_id: specialist } = await givenAgent(owner);
    const ids: string[] = [];
    for (const agent of [undefined, specialist, undefined, specialist, undefined]) {
      ids.push((await givenSession(owner.rest, agent === undefined ? {} : { agentId: agent })).session_id);
      await nextMillisecond();
    }
    await append(ids[0]!, sampleEntries(1), owner);
    const read = async (query: string) => (await owner.rest.get(`/v1/sessions?${query}`)).body as unknown as ListPage;
    const expected = [ids[0], ids[4], ids[3], ids[2], ids[1]];
    const pages: string[][] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page: ListPage = await read(`limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`);
      pages.push(page.sessions.map(({ session_id }) => session_id));
      cursor = page.next_cursor;
    }
    expect(pages).toEqual([expected.slice(0, 2), expected.slice(2, 4), expected.slice(4)]);
    const ofAgent = await read(`agent_id=${specialist}`);
    expect(ofAgent.sessions.map(({ session_id }) => session_id)).toEqual([ids[3], ids[1]]);
    const { body } = await owner.rest.post("/v1/servers", { name: "Empty" });
    expect(await read(`server_id=${String(body["server_id"])}`)).toEqual({ sessions: [], next_cursor: null });
    const mismatch = await owner.rest.get(`/v1/sessions?server_id=${String(body["server_id"])}&agent_id=${specialist}`);
    expect([mismatch.status, mismatch.body["error"]]).toEqual([404, expect.stringContaining("Agent not found")]);
  },
);

interface ListPage {
  sessions: SessionView[];
  next_cursor: string | null;
}

verifies(
  "sessions.change",
  "a deleted session has no transcript any more, and its external id can be used again",
  async () => {
    const { session_id: id } = await givenSession(tenant.rest, { externalId: "short", entries: sampleEntries(3) });
    expect((await tenant.rest.delete(`/v1/sessions/${id}`)).body).toEqual({ status: "deleted" });
    expect((await transcript(id)).status).toBe(404);
    expect((await tenant.rest.delete(`/v1/sessions/${id}`)).status).toBe(404);
    const again = await givenSession(tenant.rest, { externalId: "short" });
    expect([again.session_id === id, again.message_count]).toEqual([false, 0]);
  },
);

test("the audit log has the opening, closing and deletion of a session, and no appends", async () => {
  const { session_id: id } = await givenSession(tenant.rest, { entries: sampleEntries(1) });
  await close(id);
  await tenant.rest.delete(`/v1/sessions/${id}`);
  const em = service().service.parts.orm.em.fork();
  const actions = (await em.find(AuditEvent, { orgId: tenant.org_id, target: id })).map(({ action }) => action);
  expect(actions.toSorted()).toEqual(["sessions.close", "sessions.delete"]);
  expect(await em.count(AuditEvent, { orgId: tenant.org_id, action: "sessions.append" })).toBe(0);
  expect(
    await em.count(AuditEvent, { orgId: tenant.org_id, action: "sessions.open", target: agentId }),
  ).toBeGreaterThan(0);
});
