import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { KnowledgeAnswer } from "../../domain/knowledge/search-knowledge.ts";
import {
  API_KEY,
  type BadResponse,
  openScriptedEmbeddings,
  type ScriptedEmbeddings,
} from "../support/search/scripted-embeddings.ts";
import { type GivenAgent, givenAgent } from "../support/service/given-agent.ts";
import { createHarness, type Harness, type Tenant } from "../support/service/harness.ts";
import { verifies } from "../support/verifies.ts";
import { waitFor } from "../support/time-limits.ts";

let endpoint: ScriptedEmbeddings;
let harness: Harness;
let tenant: Tenant;
let agent: GivenAgent;

beforeAll(async () => {
  endpoint = await openScriptedEmbeddings();
  harness = await createHarness({ worker: true, config: { embeddings: endpoint.settings } });
});
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
  await endpoint[Symbol.asyncDispose]();
});
beforeEach(async () => {
  endpoint.fail(null);
  tenant = await harness.tenant();
  agent = await givenAgent(harness.service.publicUrl, tenant.rest);
});

const HANDBOOK =
  "# Handbook\n\n## Parental leave\n\nMothers stay home 16 weeks.\n\n## Dogs\n\nDogs may sleep under desks.";
/** Has none of the words of the handbook. */
const PARAPHRASE = "maternity newborn";

/** Waits until the vectors of all texts of the organization are stored. */
async function waitForVectors(owner: Tenant = tenant): Promise<void> {
  const { db } = harness.service.parts;
  await waitFor(async () => {
    const scopes = await db
      .selectFrom("search_scopes")
      .select(["embedded_index_id", "next_index_id"])
      .where("org_id", "=", owner.org_id)
      .execute();
    expect(scopes.length).toBeGreaterThan(0);
    for (const { embedded_index_id: embedded, next_index_id: next } of scopes) expect(embedded).toBe(next);
  });
}

async function countVectors(owner: Tenant = tenant): Promise<number> {
  const rows = await harness.service.parts.db
    .selectFrom("search_vectors as vector")
    .innerJoin("search_scopes as scope", "scope.id", "vector.scope_id")
    .select("vector.index_id")
    .where("scope.org_id", "=", owner.org_id)
    .execute();
  return rows.length;
}

async function addHandbook(content = HANDBOOK, owner: Tenant = tenant): Promise<string> {
  const { body } = await owner.rest.post("/v1/knowledge/documents", { kind: "policy", content });
  return String(body["document_id"]);
}

const ask = async (query: string, caller = agent) =>
  (await caller.gateway.tool("company_knowledge_search", { query })).structuredContent as unknown as KnowledgeAnswer;

verifies(
  "tool.company_knowledge_search",
  "with an embeddings endpoint, a question that shares no word with a document is answered with a sentence of it",
  async () => {
    const id = await addHandbook();
    await waitForVectors();
    const { answer, citations } = await ask(PARAPHRASE);
    expect(answer).toBe("Mothers stay home 16 weeks [1]");
    expect(citations).toEqual([
      {
        ...{ n: 1, document_id: id, title: "Handbook", kind: "policy", quote: "Mothers stay home 16 weeks." },
        score: expect.any(Number),
      },
    ]);
    expect(citations[0]!.score).toBeGreaterThan(0.3);
    expect((await ask("sourdough")).citations).toEqual([]);
    expect((await ask("Where may dogs sleep?")).answer).toBe("Dogs may sleep under desks [1]");
  },
);

verifies(
  "tool.project_search",
  "with an embeddings endpoint, a project is searched by meaning, within this project",
  async () => {
    const projects = await Promise.all(
      ["Acme", "Globex"].map(async (name) => {
        const project = { name, kind: "client", agent_ids: [agent.id] };
        const id = String((await tenant.rest.post("/v1/projects", project)).body["project_id"]);
        const content = `${name} pays each invoice late.\n\nLunch is at noon.`;
        await tenant.rest.post(`/v1/projects/${id}/documents`, { title: `Notes of ${name}`, content });
        return id;
      }),
    );
    await waitForVectors();
    const found = await agent.gateway.tool("project_search", { project_id: projects[1], query: "bill" });
    expect(found.structuredContent["hits"]).toMatchObject([{ title: "Notes of Globex", score: 1 }]);
  },
);

verifies(
  "tool.memory_recall",
  "with an embeddings endpoint, a memory is recalled by meaning, and what has the words too comes first",
  async () => {
    const contents = ["Anna drives a small car", "Anna rents an automobile", "Anna likes tea"];
    for (const content of contents) await agent.gateway.tool("memory_write", { content, kind: "fact" });
    await agent.gateway.tool("memory_write", { content: "Park the vehicle", kind: "commitment" });
    await waitForVectors();
    const recall = async (query: string, further: object = {}) => {
      const { structuredContent } = await agent.gateway.tool("memory_recall", { query, ...further });
      return (structuredContent["memories"] as { content: string }[]).map(({ content }) => content);
    };
    expect(await recall("vehicle", { kind: "fact" })).toEqual(["Anna rents an automobile", "Anna drives a small car"]);
    expect((await recall("automobile"))[0]).toBe("Anna rents an automobile");
    expect(await recall("vehicle", { kind: "preference" })).toEqual([]);
    const other = await givenAgent(harness.service.publicUrl, tenant.rest);
    const { structuredContent } = await other.gateway.tool("memory_recall", { query: "vehicle" });
    expect(structuredContent["memories"]).toEqual([]);
  },
);

test("another organization with the same model finds nothing of this one", async () => {
  await addHandbook();
  const other = await harness.tenant();
  await addHandbook("# Games\n\nChess is on Friday.", other);
  await waitForVectors();
  await waitForVectors(other);
  const stranger = await givenAgent(harness.service.publicUrl, other.rest);
  expect((await ask(PARAPHRASE, stranger)).citations).toEqual([]);
});

test("changed and deleted texts leave no vector", async () => {
  const id = await addHandbook();
  await agent.gateway.tool("memory_write", { content: "Anna drives a small car", kind: "fact" });
  await waitForVectors();
  const before = await countVectors();
  const body = JSON.stringify({ content: "# Cats\n\nCats sleep all day." });
  const headers = { "content-type": "application/json" };
  expect((await tenant.rest.send("PATCH", `/v1/knowledge/documents/${id}`, { body, headers })).status).toBe(200);
  await waitForVectors();
  expect([before, await countVectors()]).toEqual([3, 2]);
  expect((await ask(PARAPHRASE)).citations).toEqual([]);
  await tenant.rest.delete(`/v1/knowledge/documents/${id}`);
  expect(await countVectors()).toBe(1);
  await tenant.rest.delete(`/v1/agents/${agent.id}`);
  expect(await countVectors()).toBe(0);
});

/** Adds a document while the endpoint fails, and searches for it. Returns what was logged. */
async function addWhileFailing(bad: BadResponse): Promise<() => string> {
  await addHandbook("# Tea\n\nTea is at four.");
  await waitForVectors();
  const before = harness.logged().length;
  endpoint.fail(bad);
  await addHandbook();
  expect((await ask("Where may dogs sleep?")).answer).toBe("Dogs may sleep under desks [1]");
  expect((await ask(PARAPHRASE)).citations).toEqual([]);
  const logged = () => harness.logged().slice(before);
  expect(logged()).toContain("a query could not be embedded");
  expect(logged()).not.toMatch(new RegExp(`${API_KEY}|Mothers|${PARAPHRASE}`));
  return logged;
}

test.each(["html", 500, "too few"] as const)(
  "while the endpoint responds with %s, documents are added and found by their words, and embedded later",
  async (bad) => {
    const logged = await addWhileFailing(bad);
    await waitFor(() => expect(logged()).toContain("texts could not be embedded"));
    endpoint.fail(null);
    await waitForVectors();
    expect((await ask(PARAPHRASE)).answer).toBe("Mothers stay home 16 weeks [1]");
  },
);

test("while the endpoint does not respond, documents are added and found by their words", async () => {
  const logged = await addWhileFailing("nothing");
  expect(logged()).toContain("the embeddings endpoint did not respond in 1000 ms");
});
