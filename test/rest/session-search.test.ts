import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import type { SearchHit, SearchPage } from "../../domain/sessions/search-transcripts.ts";
import type { NewEntry } from "../../domain/sessions/transcript-entry.ts";
import { givenSession, type GivenSession } from "../support/service/given-session.ts";
import type { Tenant } from "../support/service/harness.ts";
import { listServers } from "../support/service/main-agent.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { nextMillisecond } from "../support/next-millisecond.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness();
let tenant: Tenant;

beforeAll(async () => {
  tenant = await service().tenant();
});

const search = (query: Record<string, string>, { rest } = tenant) =>
  rest.get(`/v1/sessions/search?${new URLSearchParams(query).toString()}`);

async function find(query: Record<string, string>, owner = tenant): Promise<SearchPage> {
  const { status, body, text } = await search(query, owner);
  if (status !== 200) throw new Error(text);
  return body as unknown as SearchPage;
}

const texts = (...contents: string[]): NewEntry[] =>
  contents.map((content, index) => ({ id: `e${index + 1}`, role: "user", content }));

const given = (contents: string[], options: GivenSession = {}, { rest } = tenant) =>
  givenSession(rest, { ...options, entries: texts(...contents) });

const place = ({ session_id, seq }: SearchHit) => [session_id, seq];

/** All hits, page by page. */
async function findAll(query: Record<string, string>, owner = tenant): Promise<SearchHit[]> {
  const hits: SearchHit[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const page: SearchPage = await find({ ...query, ...(cursor !== "" && { cursor }) }, owner);
    hits.push(...page.hits);
    cursor = page.next_cursor;
  }
  return hits;
}

verifies(
  "sessions.search",
  "a search returns the matching entries with an excerpt and the places of the words in it",
  async () => {
    const { session_id, agent_id } = await given(["Nothing here", "<b>Pay</b> the Quokka \u0001 invoice"], {
      title: "Bills",
    });
    const { hits, next_cursor } = await find({ q: "INVOICE quokka" });
    expect([hits, next_cursor]).toEqual([
      [
        {
          session_id,
          agent_id,
          title: "Bills",
          seq: 2,
          role: "user",
          created_at: expect.stringMatching(/^\d{4}-.*Z$/),
          excerpt: "<b>Pay</b> the Quokka \u0001 invoice",
          matches: [
            { start: 15, end: 21 },
            { start: 24, end: 31 },
          ],
        },
      ],
      null,
    ]);
  },
);

test("phrases, or and excluded words narrow a search", async () => {
  const { session_id: id } = await given(["red numbat runs", "numbat red", "blue numbat", "green bilby"]);
  const seqs = async (q: string) =>
    (await find({ q })).hits.map(({ session_id, seq }) => (session_id === id ? seq : 0));
  expect(await seqs('"red numbat"')).toEqual([1]);
  expect(await seqs("numbat -red")).toEqual([3]);
  expect(await seqs("blue or bilby")).toEqual([4, 3]);
  expect(await seqs("numbat bilby")).toEqual([]);
  expect(await seqs('numbat -"red numbat"')).toEqual([3, 2]);
});

test("the session that was updated last comes first, and in a session the last entry", async () => {
  const older = await given(["wombat one", "wombat two"]);
  const newer = await given(["wombat three", "other", "wombat four"]);
  const expected = [
    [newer.session_id, 3],
    [newer.session_id, 1],
    [older.session_id, 2],
    [older.session_id, 1],
  ];
  expect((await find({ q: "wombat" })).hits.map(place)).toEqual(expected);
  for (const limit of ["1", "2", "3"])
    expect([limit, (await findAll({ q: "wombat", limit })).map(place)]).toEqual([limit, expected]);
});

test("pages of a word with many matches have each of them once, in the same order as those of a rare word", async () => {
  const owner = await service().tenant();
  const session = await given(
    Array.from({ length: 700 }, (_, index) => (index % 300 === 0 ? "platypus river" : "platypus")),
    {},
    owner,
  );
  await nextMillisecond();
  const other = await given(["platypus last"], {}, owner);
  const hits = await findAll({ q: "platypus", limit: "90" }, owner);
  expect(hits.map(place)).toEqual([
    [other.session_id, 1],
    ...Array.from({ length: 700 }, (_, index) => [session.session_id, 700 - index]),
  ]);
  expect((await findAll({ q: "platypus river", limit: "2" }, owner)).map(({ seq }) => seq)).toEqual([601, 301, 1]);
});

test("a rare phrase of common words is found, and the pages of its absence contain every other entry", async () => {
  const owner = await service().tenant();
  const contents = Array.from({ length: 600 }, (_, index) => (index % 200 === 7 ? "salt and pepper" : "pepper, salt"));
  await given(contents, {}, owner);
  const seqs = async (q: string) => (await findAll({ q, limit: "100" }, owner)).map(({ seq }) => seq);
  expect(await seqs('"salt and pepper"')).toEqual([408, 208, 8]);
  expect(await seqs('pepper -"salt and pepper"')).toEqual(
    Array.from({ length: 600 }, (_, index) => 600 - index).filter((seq) => ![408, 208, 8].includes(seq)),
  );
  const { session_id } = await givenSession(owner.rest, {
    entries: texts("visit well-known.example.com, state-of-the-art"),
  });
  for (const q of ["well-known.example.com", "state-of-the-art"]) {
    const { hits } = await find({ q }, owner);
    expect([q, hits.map(({ session_id }) => session_id)]).toEqual([q, [session_id]]);
  }
});

test("pages of a common word continue through sessions without a match, also if a page has no hits", async () => {
  const owner = await service().tenant();
  const [server] = await listServers(owner.rest);
  const common = await given(
    Array.from({ length: 501 }, () => "kookaburra"),
    {},
    owner,
  );
  const em = service().service.parts.orm.em.fork();
  await em.execute(
    `insert into sessions (id, org_id, server_id, agent_id, external_id, message_count, created_at, updated_at)
     select gen_random_uuid(), ?, ?, ?, 'empty-' || n, 1, now(), now() + n * interval '1 second' from generate_series(1, 1500) n`,
    [owner.org_id, server!.server_id, server!.agent.agent_id],
  );
  const first = await find({ q: "kookaburra" }, owner);
  expect([first.hits, first.next_cursor]).toEqual([[], expect.any(String)]);
  const hits = await findAll({ q: "kookaburra", limit: "100" }, owner);
  expect([hits.length, hits[0], hits.at(-1)]).toMatchObject([
    501,
    { session_id: common.session_id, seq: 501 },
    { session_id: common.session_id, seq: 1 },
  ]);
});

test("an agent's search finds only its own entries, and one of a server those of all its agents", async () => {
  const { body } = await tenant.rest.post("/v1/servers", { name: "Second" });
  const server_id = String(body["server_id"]);
  const main = String((body["agent"] as { agent_id: unknown }).agent_id);
  const specialist = String((await tenant.rest.post("/v1/agents", { server_id, name: "Specialist" })).body["agent_id"]);
  await given(["echidna default"]);
  const [first, second] = [
    await given(["echidna main"], { agentId: main }),
    await given(["echidna special"], { agentId: specialist }),
  ];
  const excerpts = async (query: object) => (await find({ q: "echidna", ...query })).hits.map(({ excerpt }) => excerpt);
  expect(await excerpts({})).toEqual(["echidna default"]);
  expect(await excerpts({ server_id })).toEqual(["echidna special", "echidna main"]);
  expect(await excerpts({ agent_id: main })).toEqual(["echidna main"]);
  expect(await excerpts({ agent_id: specialist, server_id })).toEqual(["echidna special"]);
  const elsewhere = await search({
    q: "echidna",
    agent_id: main,
    server_id: (await listServers(tenant.rest))[0]!.server_id,
  });
  expect([elsewhere.status, elsewhere.body["error"]]).toEqual([404, expect.stringContaining("Agent not found")]);
  expect([first.server_id, second.server_id]).toEqual([server_id, server_id]);
});

test("entries of another organization never match, and its server and agent are not found", async () => {
  const other = await service().tenant();
  const [server] = await listServers(other.rest);
  await given(["cassowary"], {}, other);
  expect((await find({ q: "cassowary" })).hits).toEqual([]);
  for (const [field, id] of [
    ["server_id", server!.server_id],
    ["agent_id", server!.agent.agent_id],
  ] as const) {
    const foreign = await search({ q: "cassowary", [field]: id });
    const absent = await search({ q: "cassowary", [field]: randomUUID() });
    expect([foreign.status, foreign.text]).toEqual([404, absent.text]);
  }
});

test("409 for a server whose transcripts are in an OpenClaw gateway", async () => {
  const gateway = { name: "Gateway", kind: "openclaw", url: "wss://gateway.example.com", token: "secret" };
  const { body } = await tenant.rest.post("/v1/servers", gateway);
  const { status, text } = await search({ q: "anything", server_id: String(body["server_id"]) });
  expect([status, text]).toEqual([409, expect.stringContaining("in an OpenClaw gateway, which has no search")]);
});

test("a text with the keys of the index finds nothing that other words do not find", async () => {
  const other = await service().tenant();
  const [server] = await listServers(other.rest);
  const secret = await given(["tasmanian secret"], {}, other);
  for (const q of [`server ${server!.server_id}`, `"server ${server!.server_id}"`, `'${secret.session_id} 0'`])
    expect([q, (await find({ q })).hits]).toEqual([q, []]);
  await given([`server ${server!.server_id} tasmanian`]);
  expect((await find({ q: "tasmanian" }, other)).hits.map(({ excerpt }) => excerpt)).toEqual(["tasmanian secret"]);
});

test("entries of a deleted session do not match, from the deletion on", async () => {
  const { session_id: id } = await given(["thylacine"]);
  expect((await find({ q: "thylacine" })).hits).toHaveLength(1);
  await tenant.rest.delete(`/v1/sessions/${id}`);
  expect((await find({ q: "thylacine" })).hits).toEqual([]);
  // As a crash between the deletion and the removal of the entries leaves them.
  const [server] = await listServers(tenant.rest);
  await service()
    .service.parts.orm.em.fork()
    .execute(
      `insert into session_entries (session_id, seq, server_id, entry_id, role, content, created_at)
       values (?, 1, ?, 'e1', 'user', 'thylacine', now())`,
      [id, server!.server_id],
    );
  expect((await find({ q: "thylacine" })).hits).toEqual([]);
});

test("the first 2,048 characters of an entry are searched, and appended entries are found at once", async () => {
  const { session_id: id } = await given([`${"x ".repeat(1000)}bandicoot`, `${"x ".repeat(1100)}bandicoot`]);
  expect((await find({ q: "bandicoot" })).hits.map(place)).toEqual([[id, 1]]);
  await tenant.rest.post(`/v1/sessions/${id}/entries`, {
    entries: [{ id: "new", role: "user", content: "bandicoot" }],
  });
  expect((await find({ q: "bandicoot" })).hits.map(place)).toEqual([
    [id, 3],
    [id, 1],
  ]);
});

test("an entry with 256 KiB in one word is stored, and the other words are found", async () => {
  const { session_id: id } = await given([`dunnart ${"é".repeat(131_000)}`, `dunnart ${"\u0001 ".repeat(100_000)}`]);
  const { hits } = await find({ q: "dunnart" });
  expect(hits.map(place)).toEqual([
    [id, 2],
    [id, 1],
  ]);
  for (const { excerpt, matches } of hits)
    expect([excerpt.length <= 400, matches]).toEqual([true, [{ start: 0, end: 7 }]]);
});

test("400 for a cursor that this service did not return", async () => {
  const { session_id: id, updated_at } = await given(["quoll", "quoll"]);
  const position = (time: string, sessionId: string) => Buffer.from(`${time} ${sessionId}`).toString("base64url");
  for (const cursor of [
    "x",
    "x.1",
    position(updated_at, id),
    `${position(updated_at, id)}.0`,
    `${position("0000-01-01T00:00:00.000Z", id)}.1`,
  ]) {
    const { status, body } = await search({ q: "quoll", cursor });
    expect([cursor, status, body["error"]]).toEqual([cursor, 400, expect.stringContaining("cursor")]);
  }
});
