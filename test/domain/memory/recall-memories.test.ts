import { beforeAll, expect, test } from "vitest";
import { correctMemory } from "../../../domain/memory/correct-memory.ts";
import { forgetMemory } from "../../../domain/memory/forget-memories.ts";
import { searchMemories } from "../../../domain/memory/recall-memories.ts";
import { readMemoryTexts } from "../../../domain/memory/stored-memories.ts";
import { writeMemory } from "../../../domain/memory/write-memory.ts";
import { embedScopes } from "../../../domain/search/embed-scopes.ts";
import { QueryEmbedder } from "../../../domain/search/query-embedder.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import { AiSdkEmbeddings } from "../../../server/drivers/embeddings/ai-sdk-embeddings.ts";
import { openScriptedEmbeddings } from "../../support/search/scripted-embeddings.ts";
import { TestScope } from "../../support/search/test-scope.ts";
import { givenAgent } from "../../support/service/given-agent.ts";
import type { Tenant } from "../../support/service/harness.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
let tenant: Tenant;
let caller: Caller;

beforeAll(async () => {
  tenant = await service().tenant();
  const credential = { kind: "operator", id: "test" } as const;
  caller = { orgId: tenant.org_id, userId: null, role: "owner", scope: null, credential };
});

const deps = () => {
  const { db, orm } = service().service.parts;
  return { db, em: orm.em };
};

/** The memories of a new agent. */
async function givenMemories() {
  const { id } = await givenAgent(service().service.publicUrl, tenant.rest);
  const index = new TestScope(service, { orgId: tenant.org_id, kind: "memory", ownerId: id });
  return {
    id,
    async store(...contents: string[]): Promise<string[]> {
      const ids: string[] = [];
      for (const content of contents)
        ids.push((await writeMemory(deps(), caller, { agent_id: id, content, kind: "fact" })).memory_id);
      return ids;
    },
    async recall(query: string, queryEmbedder: QueryEmbedder | null = null): Promise<string[]> {
      const search = { db: deps().db, queryEmbedder };
      const { memories } = await searchMemories(search, caller, { id, q: query, limit: 50 });
      return memories.map(({ content }) => content);
    },
    /** The words in the search index. */
    async indexedWords(): Promise<string[]> {
      const { postings } = await index.readRows();
      return postings.map(({ term }) => term);
    },
  };
}

/** Makes it look as if the contents had been stored in this order. */
async function setOrder(...contents: string[]): Promise<void> {
  for (const [minute, content] of contents.entries())
    await deps()
      .em.fork()
      .execute(
        "update memories set updated_at = timestamptz '2026-01-01' + make_interval(mins => ?) where content = ?",
        [minute, content],
      );
}

test("of memories with almost the same score the latest is first, and a much less relevant one is last", async () => {
  const { store, recall } = await givenMemories();
  // A longer text with the word has a lower score.
  const [short, medium, long, longest] = [8, 9, 11, 199].map((words) => `Report ${"word ".repeat(words).trim()}`);
  await store(short!, medium!, long!, longest!);
  await setOrder(medium!, short!, long!, longest!);
  expect(await recall("report")).toEqual([long, short, medium, longest]);
});

test("with an embeddings endpoint, memories are recalled by their meaning, the most similar first", async () => {
  const { store, recall } = await givenMemories();
  await store("Anna rents an automobile", "Anna drives a small car", "Anna likes tea");
  await setOrder("Anna rents an automobile", "Anna drives a small car", "Anna likes tea");
  await using endpoint = await openScriptedEmbeddings();
  const embeddings = new AiSdkEmbeddings(endpoint.settings);
  const embedding = { db: deps().db, embeddings, readers: { memory: readMemoryTexts }, reportRejected: () => {} };
  await embedScopes(embedding, new AbortController().signal);
  const embedder = new QueryEmbedder({ embeddings, report: () => {}, timeLimitMs: 500 });
  expect(await recall("vehicle", embedder)).toEqual(["Anna rents an automobile", "Anna drives a small car"]);
  expect(await recall("vehicle")).toEqual([]);
});

test("the search index has no word of an earlier content or of a deleted memory", async () => {
  const { id, store, indexedWords } = await givenMemories();
  const [memoryId] = await store("Zephyr launches");
  expect(await indexedWords()).toEqual(["launch", "zephyr"]);
  await correctMemory(deps(), caller, { id, memory_id: memoryId!, content: "Atlas launches" });
  expect(await indexedWords()).toEqual(["atlas", "launch"]);
  await forgetMemory(deps(), caller, { id, memory_id: memoryId! });
  expect(await indexedWords()).toEqual([]);
});
