import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { appendEntries } from "../../../domain/sessions/append-entries.ts";
import { browseTranscript } from "../../../domain/sessions/browse-transcript.ts";
import { getSession } from "../../../domain/sessions/find-session.ts";
import { listSessions } from "../../../domain/sessions/list-sessions.ts";
import { readTranscript } from "../../../domain/sessions/read-transcript.ts";
import { type SearchSessions, searchTranscripts } from "../../../domain/sessions/search-transcripts.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import { explainCall, nodesOf, rowsRead } from "../../support/database/query-plans.ts";
import { sampleEntries } from "../../support/service/given-session.ts";
import { listServers } from "../../support/service/main-agent.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();

const SESSIONS = 2000;
const ENTRIES = 20_000;
const LIMIT = 20;
/** The session with many entries. It was updated first. */
const LONG = randomUUID();
const TABLES = ["sessions", "session_entries"];

let caller: Caller;
let agentId: string;

beforeAll(async () => {
  const [tenant, other] = [await service().tenant(), await service().tenant()];
  const credential = { kind: "api_key", id: "test" } as const;
  caller = { orgId: tenant.org_id, userId: null, role: "admin", scope: "everything", credential };
  const em = service().service.parts.orm.em.fork();
  for (const { org_id, rest } of [tenant, other]) {
    const [server] = await listServers(rest);
    const owner = [org_id, server!.server_id, server!.agent.agent_id];
    await em.execute(
      `insert into sessions (id, org_id, server_id, agent_id, external_id, message_count, created_at, updated_at)
       select gen_random_uuid(), ?, ?, ?, 'run-' || n, 5, now(), now() - n * interval '1 minute' from generate_series(1, ?) n`,
      [...owner, SESSIONS],
    );
    if (org_id === tenant.org_id) agentId = server!.agent.agent_id;
  }
  const [server] = await listServers(tenant.rest);
  await em.execute(
    `insert into sessions (id, org_id, server_id, agent_id, external_id, message_count, created_at, updated_at)
     values (?, ?, ?, ?, 'long', ?, now(), now() - interval '1 year')`,
    [LONG, tenant.org_id, server!.server_id, agentId, ENTRIES],
  );
  await em.execute(
    `insert into session_entries (session_id, seq, server_id, entry_id, role, content, created_at)
     select session.id, n, session.server_id, 'e' || n, 'user',
       'common words' || case when n > 5 then ' long' else '' end || case when n = 7777 then ' unique' else '' end, now()
     from sessions session cross join generate_series(1, ?) n where n <= session.message_count`,
    [ENTRIES],
  );
  // It also moves the pending words into the index.
  await em.execute("vacuum analyze sessions, session_entries");
});

/** Runs a call. Returns how its statements read the tables of sessions: the kinds of nodes, and the rows. */
async function explain(call: () => Promise<unknown>) {
  const plans = await explainCall(String(service().config.databaseUrl), TABLES, call);
  const nodes = plans.flatMap(nodesOf);
  const scans = nodes.filter(
    (node) => TABLES.includes(node["Relation Name"] ?? "") && node["Node Type"].includes("Scan"),
  );
  return {
    scans: new Set(scans.map((node) => node["Node Type"])),
    sorts: nodes.filter((node) => node["Node Type"].includes("Sort")).map((node) => node["Actual Rows"]),
    rows: scans.reduce((sum, node) => sum + rowsRead(node), 0),
  };
}

const INDEX_SCANS = ["Index Scan", "Index Only Scan", "Bitmap Heap Scan"];

/** Checks that a call reads indexes, sorts nothing, and reads at most `rows` rows. */
async function expectIndexed(call: () => Promise<unknown>, rows: number): Promise<void> {
  const plan = await explain(call);
  expect(INDEX_SCANS).toEqual(expect.arrayContaining([...plan.scans]));
  expect([plan.scans.size > 0, plan.sorts]).toEqual([true, []]);
  expect(plan.rows).toBeLessThanOrEqual(rows);
  expect(plan.rows).toBeGreaterThan(0);
}

const deps = () => service().service.parts.service;

test.each<[string, () => { agent_id?: string }]>([
  ["a server", () => ({})],
  ["an agent", () => ({ agent_id: agentId })],
])("pages of the sessions of %s read an index, and one more row than they return", async (_what, filter) => {
  const list = (cursor?: string) => listSessions(deps(), caller, { ...filter(), limit: LIMIT, cursor });
  let { next_cursor: cursor } = await list();
  await expectIndexed(() => list(), LIMIT + 1);
  for (let page = 2; page < 50; page++) cursor = (await list(String(cursor))).next_cursor;
  await expectIndexed(() => list(String(cursor)), LIMIT + 1);
});

test("getting a session reads one row", async () => {
  await expectIndexed(() => getSession(deps(), caller, LONG), 1);
});

test.each([undefined, 20_000, 10_000, 25, 2])(
  "reading a transcript of 20,000 entries before %s reads hardly more rows than it returns",
  async (before) => {
    const request = { session_id: LONG, limit: LIMIT, before };
    // Its sizes, its entries, and its session twice.
    const rows = 2 * LIMIT + 2;
    await expectIndexed(() => readTranscript(deps(), caller, request), rows);
    await expectIndexed(() => browseTranscript(deps(), caller, request), rows);
  },
);

const search = (request: Partial<SearchSessions>) =>
  searchTranscripts(deps(), caller, { q: "common", limit: LIMIT, ...request });

/** A search sorts at most as many rows as it reads. */
async function expectBounded(request: Partial<SearchSessions>, rows: number): Promise<void> {
  const plan = await explain(() => search(request));
  expect(INDEX_SCANS).toEqual(expect.arrayContaining([...plan.scans]));
  expect(plan.rows).toBeLessThanOrEqual(rows);
  expect(Math.max(0, ...plan.sorts)).toBeLessThanOrEqual(rows);
}

/** The sessions in which a search looks first. */
const FIRST_SESSIONS = 11;
/** The candidates of a search that are too many, and the sessions in which it then looks. */
const TOO_MANY = 501;
const SESSIONS_OF_SEARCH = 1010;
/** Of a part of a session. */
const PART = 256;
/** In which a search for a name looks, and the entries of each of these sessions. */
const PARTS_OF_NAMES = 100;
const SHORT = 5;

test("a search for a word that most entries have reads few more than it returns", async () => {
  const rows = FIRST_SESSIONS + 2 * (LIMIT + 1) + PART;
  await expectBounded({}, rows);
  await expectBounded({ agent_id: agentId }, rows);
  const { next_cursor: cursor } = await search({});
  await expectBounded({ cursor: String(cursor) }, rows);
});

test("a search for a word that matches few entries reads only these, with their sessions", async () => {
  expect((await search({ q: "unique" })).hits).toMatchObject([{ session_id: LONG, seq: 7777 }]);
  await expectBounded({ q: "unique" }, FIRST_SESSIONS + 3);
  await expectBounded({ q: "common unique" }, FIRST_SESSIONS + 3);
});

test("a search for a word that no entry has reads no entry, and only the first sessions", async () => {
  await expectBounded({ q: "absent" }, FIRST_SESSIONS);
  await expectBounded({ q: "common absent" }, FIRST_SESSIONS);
});

test("a search for a word that many entries of only the oldest session have reads a bounded number of rows on each page", async () => {
  const rows = FIRST_SESSIONS + TOO_MANY + SESSIONS_OF_SEARCH + 8 * LIMIT + 2 * PART;
  const hits: number[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < 4; page++) {
    const request = { q: "long", cursor };
    await expectBounded(request, rows);
    const found = await search(request);
    hits.push(...found.hits.map(({ seq }) => seq));
    cursor = String(found.next_cursor);
  }
  expect(hits).toEqual(Array.from({ length: hits.length }, (_, index) => ENTRIES - index));
  expect(hits.length).toBeGreaterThanOrEqual(LIMIT);
});

test("a search for a name whose words most entries have reads a bounded number of rows", async () => {
  expect((await search({ q: "common.words" })).hits).toHaveLength(LIMIT);
  await expectBounded({ q: "common.words" }, FIRST_SESSIONS + TOO_MANY + 3 * LIMIT + PART);
  // The index has each word of the name, so only the contents tell that none has the name.
  await expectBounded({ q: "words.common" }, TOO_MANY + PARTS_OF_NAMES * SHORT + SESSIONS_OF_SEARCH);
});

test("an append to a session of 20,000 entries reads the entries with the same ids, and its session", async () => {
  const entries = [...sampleEntries(20, 10_000), ...sampleEntries(5, 30_000)];
  await expectIndexed(() => appendEntries(deps(), caller, { sessionId: LONG, entries }), 25 + 2);
});
