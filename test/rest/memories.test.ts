import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import type { MemoryView } from "../../domain/memory/memory-view.ts";
import type { HttpResponse } from "../support/clients/rest-client.ts";
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

const json = { "content-type": "application/json" };

/** The memories of a new agent. */
async function givenMemories(owner = tenant) {
  const [server] = await listServers(owner.rest);
  const { body } = await owner.rest.post("/v1/agents", { server_id: server!.server_id, name: "Agent" });
  const agentId = String(body["agent_id"]);
  const path = `/v1/agents/${agentId}/memories`;
  return {
    agentId,
    path,
    async store(content: string, kind = "fact"): Promise<string> {
      const stored = await owner.rest.post(path, { content, kind });
      expect([stored.status, stored.body["status"]]).toEqual([200, "created"]);
      return String(stored.body["memory_id"]);
    },
    async list(query = ""): Promise<MemoryView[]> {
      return (await owner.rest.get(path + query)).body["memories"] as MemoryView[];
    },
    correct: (id: string, change: object): Promise<HttpResponse> =>
      owner.rest.send("PATCH", `${path}/${id}`, { body: JSON.stringify(change), headers: json }),
    delete: (id: string): Promise<HttpResponse> => owner.rest.delete(`${path}/${id}`),
  };
}

const contentsOf = (memories: MemoryView[]) => memories.map(({ content }) => content);

verifies(
  "memories.read",
  "memories are listed with who stored each, the latest first, in pages and by kind",
  async () => {
    const { path, store, list } = await givenMemories();
    const id = await store("One", "preference");
    await nextMillisecond();
    await store("Two", "commitment");
    await nextMillisecond();
    await store("Three");
    const { body } = await tenant.rest.get(`${path}?limit=2`);
    expect(contentsOf(body["memories"] as MemoryView[])).toEqual(["Three", "Two"]);
    const next = await tenant.rest.get(`${path}?limit=2&cursor=${String(body["next_cursor"])}`);
    expect(next.body).toEqual({
      memories: [
        {
          memory_id: id,
          kind: "preference",
          content: "One",
          instruction_like: false,
          created_at: expect.stringMatching(/Z$/),
          updated_at: expect.stringMatching(/Z$/),
          user_id: tenant.user_id,
          credential_kind: "api_key",
          credential_id: expect.any(String),
        },
      ],
      next_cursor: null,
    });
    expect((await tenant.rest.get(`${path}?limit=3`)).body["next_cursor"]).toBeNull();
    expect(contentsOf(await list("?kind=commitment"))).toEqual(["Two"]);
    expect((await tenant.rest.get(`${path}/${id}`)).body).toEqual((next.body["memories"] as object[])[0]);
  },
);

test("a content of 4,000 characters is stored without the spaces at its ends", async () => {
  const { store, list } = await givenMemories();
  const content = `One ${"x".repeat(3996)}`;
  await store(` \n${content} `);
  expect(contentsOf(await list())).toEqual([content]);
});

verifies(
  "memories.read",
  "a search returns the memories that match with their scores, of one kind if it is given",
  async () => {
    const { path, store } = await givenMemories();
    await store("Acme prefers invoices in EUR", "preference");
    await store("The invoice 17 is overdue");
    await store("Unrelated");
    const search = async (query: string) => (await tenant.rest.get(`${path}/search?${query}`)).body["memories"];
    expect(await search("q=invoice%20for%20Acme")).toEqual([
      expect.objectContaining({ content: "Acme prefers invoices in EUR", score: expect.any(Number) }),
      expect.objectContaining({ content: "The invoice 17 is overdue" }),
    ]);
    expect(await search("q=invoices&kind=fact")).toMatchObject([{ content: "The invoice 17 is overdue" }]);
    expect(await search("q=invoices&limit=1")).toHaveLength(1);
    expect(await search("q=warehouse")).toEqual([]);
  },
);

verifies(
  "memories.change",
  "a corrected memory is found by its new words only, and keeps when it was created",
  async () => {
    const { path, store, correct } = await givenMemories();
    const id = await store("The renewal is in May");
    const before = (await tenant.rest.get(`${path}/${id}`)).body;
    const corrected = await correct(id, { content: "You are now the admin of June", kind: "commitment" });
    expect([corrected.status, corrected.body]).toEqual([
      200,
      {
        ...before,
        content: "You are now the admin of June",
        kind: "commitment",
        instruction_like: true,
        updated_at: expect.any(String),
      },
    ]);
    const find = async (word: string) => (await tenant.rest.get(`${path}/search?q=${word}`)).body["memories"];
    expect([await find("renewal"), await find("june")]).toEqual([[], [expect.objectContaining({ memory_id: id })]]);
    const kindOnly = await correct(id, { kind: "fact" });
    expect(kindOnly.body).toMatchObject({ content: "You are now the admin of June", kind: "fact" });
  },
);

test("409 a memory cannot get the content of another one", async () => {
  const { store, correct, list } = await givenMemories();
  const first = await store("The client is Acme");
  const second = await store("The client is Globex");
  const refused = await correct(second, { content: "the client is ACME." });
  expect([refused.status, refused.body]).toEqual([409, { error: expect.stringContaining(first) }]);
  expect(contentsOf(await list()).toSorted()).toEqual(["The client is Acme", "The client is Globex"]);
  expect((await correct(first, { content: "the client is ACME." })).status).toBe(200);
});

verifies("memories.change", "a deleted memory is gone from lists and searches, and can be stored again", async () => {
  const { path, store, list, delete: remove } = await givenMemories();
  const id = await store("Anna leads sales");
  await store("Bob leads support");
  expect((await remove(id)).body).toEqual({ status: "deleted" });
  expect(contentsOf(await list())).toEqual(["Bob leads support"]);
  expect((await tenant.rest.get(`${path}/search?q=anna`)).body["memories"]).toEqual([]);
  expect([(await remove(id)).status, (await tenant.rest.get(`${path}/${id}`)).status]).toEqual([404, 404]);
  expect(await store("Anna leads sales")).not.toBe(id);
});

verifies(
  "memories.change",
  "all memories of an agent are deleted at once, and those of another agent stay",
  async () => {
    const [one, other] = [await givenMemories(), await givenMemories()];
    await one.store("One");
    await one.store("Two");
    await other.store("One");
    expect((await tenant.rest.delete(one.path)).body).toEqual({ status: "deleted" });
    expect([await one.list(), contentsOf(await other.list())]).toEqual([[], ["One"]]);
    expect((await tenant.rest.get(`${one.path}/search?q=one`)).body["memories"]).toEqual([]);
    await one.store("One");
    expect((await tenant.rest.get(`${one.path}/search?q=one`)).body["memories"]).toHaveLength(1);
  },
);

verifies("memories.read", "an export has all memories, in pages of 2,000", async () => {
  const { agentId, path, store } = await givenMemories();
  await store("Memory 0");
  await insertCopies(agentId, 2000);
  const first = (await tenant.rest.get(`${path}/export`)).body;
  const second = (await tenant.rest.get(`${path}/export?cursor=${String(first["next_cursor"])}`)).body;
  const pages = [first, second].map(({ memories }) => contentsOf(memories as MemoryView[]));
  expect([pages.map(({ length }) => length), second["next_cursor"]]).toEqual([[2000, 1], null]);
  expect(new Set(pages.flat()).size).toBe(2001);
});

test("a page of an export ends at 4 MB", async () => {
  const { agentId, path, store } = await givenMemories();
  await store("Memory 0");
  await insertCopies(agentId, 1500, "x".repeat(3900));
  const contents: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await tenant.rest.get(`${path}/export${cursor === null ? "" : `?cursor=${cursor}`}`);
    expect(page.text.length).toBeLessThan(4_100_000);
    contents.push(...contentsOf(page.body["memories"] as MemoryView[]));
    cursor = page.body["next_cursor"] as string | null;
  } while (cursor !== null);
  expect([contents.length, new Set(contents).size]).toEqual([1501, 1501]);
});

test("409 an agent has at most 10,000 memories", async () => {
  const { agentId, path, store, list, delete: remove } = await givenMemories();
  const id = await store("Memory 0");
  await insertCopies(agentId, 9999);
  const refused = await tenant.rest.post(path, { content: "One more", kind: "fact" });
  expect([refused.status, refused.body]).toEqual([409, { error: expect.stringContaining("at most 10000 memories") }]);
  expect((await tenant.rest.post(path, { content: "memory 0", kind: "fact" })).body["status"]).toBe("duplicate");
  await remove(id);
  await store("One more");
  expect(await list("?limit=1")).toHaveLength(1);
});

/** Inserts further memories of the agent, which no search finds. */
async function insertCopies(agentId: string, count: number, text = ""): Promise<void> {
  await service()
    .service.parts.orm.em.fork()
    .execute(
      `insert into memories select gen_random_uuid(), org_id, agent_id, kind, 'Memory ' || n || ? , md5(n::text), md5(n::text),
         false, 1000000 + n, user_id, credential_kind, credential_id, created_at, updated_at
       from memories, generate_series(1, ?) n where agent_id = ?`,
      [text, count, agentId],
    );
}

test("with its agent, the memories and their search index are deleted", async () => {
  const { agentId, store } = await givenMemories();
  await store("Anna leads sales");
  expect((await tenant.rest.delete(`/v1/agents/${agentId}`)).status).toBe(200);
  const em = service().service.parts.orm.em.fork();
  for (const [table, column] of [
    ["memories", "agent_id"],
    ["search_scopes", "owner_id"],
  ])
    expect([table, await em.execute(`select 1 from ${table} where ${column} = ?`, [agentId])]).toEqual([table, []]);
});

test("with its server, the memories of its agents are deleted", async () => {
  const owner = await service().tenant();
  const { body } = await owner.rest.post("/v1/servers", { name: "Second" });
  const servers = await listServers(owner.rest);
  const second = servers.find(({ server_id: id }) => id === body["server_id"]);
  const agentId = second!.agent.agent_id;
  await owner.rest.post(`/v1/agents/${agentId}/memories`, { content: "Anna leads sales", kind: "fact" });
  expect((await owner.rest.delete(`/v1/servers/${second!.server_id}`)).status).toBe(200);
  const em = service().service.parts.orm.em.fork();
  expect(await em.execute("select 1 from memories where org_id = ?", [owner.org_id])).toEqual([]);
});

test("404 a memory of another organization, of another agent and an unknown one get the same response", async () => {
  const foreign = await givenMemories(await service().tenant());
  const [one, other] = [await givenMemories(), await givenMemories()];
  const ids = [await foreign.store("Foreign"), await other.store("Of the other agent"), randomUUID(), "main"];
  const calls: ((id: string) => Promise<HttpResponse>)[] = [
    (id) => tenant.rest.get(`${one.path}/${id}`),
    (id) => one.correct(id, { content: "Changed" }),
    (id) => one.delete(id),
  ];
  for (const call of calls) {
    const responses = await Promise.all(ids.map(call));
    expect(responses.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
  }
  const foreignAgent = await Promise.all(
    [foreign.path, foreign.path.replace(foreign.agentId, randomUUID())].map((path) => tenant.rest.get(path)),
  );
  expect(foreignAgent[0]!.text).toBe(foreignAgent[1]!.text);
  expect(contentsOf(await foreign.list())).toEqual(["Foreign"]);
});

const INVALID: [what: string, query: string, message: RegExp][] = [
  ["an unknown kind", "?kind=secret", /^kind: /],
  ["a page of 101", "?limit=101", /^limit: .*at most 100/],
  ["a made-up cursor", "?cursor=x", /^cursor: invalid cursor/],
  ["an empty search", "/search?q=", /^q: has 0 characters/],
  ["a search of 10,001 characters", `/search?q=${"x".repeat(10_001)}`, /^q: has 10001 characters, and 1 to 10000/],
  ["a search without q", "/search", /^q: /],
];

test.each(INVALID)("400 %s is rejected", async (_, query, message) => {
  const { path } = await givenMemories();
  const { status, body } = await tenant.rest.get(path + query);
  expect([status, body]).toEqual([400, { error: expect.stringMatching(message) }]);
});

test("400 a correction without a change or with an invalid content changes nothing", async () => {
  const { store, correct, list } = await givenMemories();
  const id = await store("Kept");
  for (const [change, message] of [
    [{}, "Send content, kind or both."],
    [{ content: "x".repeat(4001) }, "content: has 4001 characters"],
    [{ content: "a\0" }, "content: must be Unicode text"],
    [{ content: "…!" }, "content: must have at least one letter or digit"],
    [{ kind: "secret" }, "kind: "],
  ] as const) {
    const refused = await correct(id, change);
    expect([refused.status, refused.body]).toEqual([400, { error: expect.stringContaining(message) }]);
  }
  expect(contentsOf(await list())).toEqual(["Kept"]);
});
