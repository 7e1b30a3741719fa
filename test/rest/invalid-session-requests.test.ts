import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { givenSession, sampleEntries } from "../support/service/given-session.ts";
import type { Tenant } from "../support/service/harness.ts";
import { listServers, mainAgentId } from "../support/service/main-agent.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();
let tenant: Tenant;
let agentId: string;

beforeAll(async () => {
  tenant = await service().tenant();
  agentId = await mainAgentId(tenant.rest);
});

const append = (id: string, entries: unknown) => tenant.rest.post(`/v1/sessions/${id}/entries`, { entries });
const open = (body: object, { rest } = tenant, agent = agentId) => rest.post(`/v1/agents/${agent}/sessions`, body);
const close = (id: string) => tenant.rest.post(`/v1/sessions/${id}/close`, {});
const transcript = (id: string, { rest } = tenant) => rest.get(`/v1/sessions/${id}/transcript`);

test("another organization's server, agent and session get the same response as absent ones", async () => {
  const other = await service().tenant();
  const [server] = await listServers(other.rest);
  const { session_id: foreign } = await givenSession(other.rest, { externalId: "theirs", entries: sampleEntries(1) });
  for (const [field, id] of [
    ["server_id", server!.server_id],
    ["agent_id", server!.agent.agent_id],
  ] as const) {
    const [known, absent] = await Promise.all(
      [id, randomUUID()].map((value) => tenant.rest.get(`/v1/sessions?${field}=${value}`)),
    );
    expect([known!.status, known!.text]).toEqual([404, absent!.text]);
  }
  for (const call of [
    (id: string) => tenant.rest.get(`/v1/sessions/${id}`),
    (id: string) => transcript(id),
    (id: string) => append(id, sampleEntries(1)),
    (id: string) => close(id),
    (id: string) => tenant.rest.delete(`/v1/sessions/${id}`),
  ]) {
    const [known, absent, malformed] = await Promise.all([foreign, randomUUID(), "main"].map(call));
    expect([known!.status, known!.text, known!.text]).toEqual([404, absent!.text, malformed!.text]);
  }
  const [known, absent, malformed] = await Promise.all(
    [server!.agent.agent_id, randomUUID(), "main"].map((id) => open({ external_id: "x" }, tenant, id)),
  );
  expect([known!.status, known!.text, known!.text]).toEqual([404, absent!.text, malformed!.text]);
  expect((await transcript(foreign, other)).body["entries"]).toHaveLength(1);
});

const entry = { id: "e1", role: "user", content: "x" };
const INVALID_ENTRIES: [what: string, entries: unknown, message: RegExp][] = [
  ["no entries", [], /^entries: .*at least 1/],
  ["1,001 entries", sampleEntries(1001), /^entries: .*at most 1000/],
  ["an unknown field", [{ ...entry, text: "x" }], /unknown field "text"/],
  ["an unknown role", [{ ...entry, role: "robot" }], /^entries\.0\.role: /],
  ["an empty id", [{ ...entry, id: "" }], /^entries\.0\.id: must have 1 to 128 visible ASCII characters/],
  ["an id with a space", [entry, { ...entry, id: "a b" }], /^entries\.1\.id: /],
  ["a long id", [{ ...entry, id: "x".repeat(129) }], /^entries\.0\.id: /],
  ["a NUL character", [{ ...entry, content: "a\0b" }], /^entries\.0\.content: must be Unicode text without NUL/],
  ["a lone surrogate", [{ ...entry, content: "a\ud83e" }], /^entries\.0\.content: must be Unicode text/],
  ["a long content", [{ ...entry, content: "é".repeat(131_073) }], /content: has 262146 bytes, and at most 262144/],
  ["a tool of a user", [{ ...entry, tool: { name: "x" } }], /^entries\.0\.tool: requires the role assistant/],
  ["a tool name of two lines", [{ ...entry, role: "tool", tool: { name: "a\nb" } }], /^entries\.0\.tool\.name: /],
  ["a model with a NUL character", [{ ...entry, model: "a\0" }], /^entries\.0\.model: /],
  ["a part of the usage", [{ ...entry, usage: { input: 1 } }], /^entries\.0\.usage\.output: /],
  ["negative tokens", [{ ...entry, usage: usage(-1) }], /^entries\.0\.usage\.input: .*at least 0/],
  ["fractions of tokens", [{ ...entry, usage: usage(0.5) }], /^entries\.0\.usage\.input: .*an integer/],
  ["too many tokens", [{ ...entry, usage: usage(1_000_000_001) }], /^entries\.0\.usage\.input: .*at most 1000000000/],
  ["a time without an offset", [{ ...entry, created_at: "2026-01-01T00:00:00" }], /created_at: must be an RFC 3339/],
  ["a time in the year 0", [{ ...entry, created_at: "0000-01-01T00:00:00Z" }], /created_at: must be a time between/],
  ["a time in the future", [{ ...entry, created_at: "2999-01-01T00:00:00Z" }], /created_at: must be a time between/],
];

function usage(input: number): object {
  return { input, output: 0, cache_read: 0, cache_write: 0 };
}

test.each(INVALID_ENTRIES)(
  "400 an append with %s stores nothing and says what is valid",
  async (_what, entries, message) => {
    const { session_id: id } = await givenSession(tenant.rest);
    const rejected = await append(id, entries);
    expect([rejected.status, rejected.body["error"]]).toEqual([400, expect.stringMatching(message)]);
    expect((await tenant.rest.get(`/v1/sessions/${id}`)).body["message_count"]).toBe(0);
  },
);

test("400 an append with 1,000 invalid entries gets a short message", async () => {
  const { session_id: id } = await givenSession(tenant.rest);
  const { status, text } = await append(
    id,
    sampleEntries(1000).map((each) => ({ ...each, role: "robot" })),
  );
  expect([status, text.length < 5000, text]).toEqual([400, true, expect.stringContaining("and 980 more")]);
});

test.each<[string, object, RegExp]>([
  ["without an external id", {}, /^external_id: /],
  ["with a NUL character in the external id", { external_id: "a\0" }, /^external_id: must have 1 to 128 visible ASCII/],
  ["with a title of two lines", { external_id: "a", title: "a\nb" }, /^title: must be one line of 1 to 200 characters/],
  ["with a lone surrogate in the title", { external_id: "a", title: "a\ud83e" }, /^title: /],
  ["with a long title", { external_id: "a", title: "x".repeat(201) }, /^title: /],
  ["that begins in the future", { external_id: "a", created_at: "2999-01-01T00:00:00Z" }, /^created_at: /],
])("400 a session %s is not opened", async (_what, body, message) => {
  const rejected = await open(body);
  expect([rejected.status, rejected.body["error"]]).toEqual([400, expect.stringMatching(message)]);
});

test("400 a limit, a cursor or a position out of range is rejected", async () => {
  const { session_id: id } = await givenSession(tenant.rest);
  for (const [path, message] of [
    ["/v1/sessions?limit=0", /^limit: /],
    ["/v1/sessions?limit=101", /^limit: /],
    ["/v1/sessions?cursor=made-up", /^cursor: invalid cursor/],
    [`/v1/sessions?cursor=${Buffer.from(`0000-01-01T00:00:00.000Z ${id}`).toString("base64url")}`, /^cursor: invalid/],
    ["/v1/sessions?server_id=first", /^server_id: /],
    [`/v1/sessions/${id}/transcript?limit=201`, /^limit: /],
    [`/v1/sessions/${id}/transcript?before=0`, /^before: /],
    [`/v1/sessions/${id}/transcript?before=-1`, /^before: /],
    [`/v1/sessions/${id}/transcript?before=9999999999999999`, /^before: /],
  ] as const) {
    const { status, body } = await tenant.rest.get(path);
    expect([path, status, body["error"]]).toEqual([path, 400, expect.stringMatching(message)]);
  }
});

test("413 an append of more than 8 MiB is rejected, and one of 7 MiB is stored", async () => {
  const { session_id: id } = await givenSession(tenant.rest);
  const entries = sampleEntries(33).map((each) => ({ ...each, content: "x".repeat(262_144) }));
  const rejected = await append(id, entries);
  expect([rejected.status, rejected.body]).toEqual([413, { error: "The request body exceeds 8 MiB." }]);
  expect((await append(id, entries.slice(0, 28))).body).toEqual({ added: 28, last_seq: 28 });
});

test("401 a gateway token cannot write sessions over REST", async () => {
  const { server_id } = (await listServers(tenant.rest))[0]!;
  const { body } = await tenant.rest.post("/v1/agents", { server_id, name: "Specialist" });
  const { gateway_token: token, agent_id: own } = body as { gateway_token: string; agent_id: string };
  const rest = tenant.rest.as(token);
  expect((await open({ external_id: "own" }, { ...tenant, rest }, own)).status).toBe(401);
});
