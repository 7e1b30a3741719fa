import { beforeAll, beforeEach, expect, test } from "vitest";
import { correctMemory } from "../../../domain/memory/correct-memory.ts";
import { forgetMemory } from "../../../domain/memory/forget-memories.ts";
import { readMemoryTexts } from "../../../domain/memory/stored-memories.ts";
import { embedScopes } from "../../../domain/search/embed-scopes.ts";
import { QueryEmbedder } from "../../../domain/search/query-embedder.ts";
import { AiSdkEmbeddings } from "../../../server/drivers/embeddings/ai-sdk-embeddings.ts";
import { openScriptedEmbeddings } from "../../support/search/scripted-embeddings.ts";
import { TestScope } from "../../support/search/test-scope.ts";
import { GivenMemories } from "../../support/service/given-memories.ts";
import type { Tenant } from "../../support/service/harness.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
let tenant: Tenant;
let memories: GivenMemories;

beforeAll(async () => {
  tenant = await service().tenant();
});

beforeEach(async () => {
  memories = await GivenMemories.create(service, tenant);
});

/** Makes it look as if the contents had been stored in this order. */
async function setOrder(...contents: string[]): Promise<void> {
  for (const [minute, content] of contents.entries())
    await memories.setTime(content, new Date(Date.UTC(2026, 0, 1, 0, minute)));
}

test("of memories with almost the same score the latest is first, and a much less relevant one is last", async () => {
  // A longer text with the word has a lower score.
  const [short, medium, long, longest] = [8, 9, 11, 199].map((words) => `Report ${"word ".repeat(words).trim()}`);
  await memories.store(short!, medium!, long!, longest!);
  await setOrder(medium!, short!, long!, longest!);
  expect(await memories.recall("report")).toEqual([long, short, medium, longest]);
});

test("with an embeddings endpoint, memories are recalled by their meaning, the most similar first", async () => {
  await memories.store("Anna rents an automobile", "Anna drives a small car", "Anna likes tea");
  await setOrder("Anna rents an automobile", "Anna drives a small car", "Anna likes tea");
  await using endpoint = await openScriptedEmbeddings();
  const embeddings = new AiSdkEmbeddings(endpoint.settings);
  const { db } = memories.deps;
  await embedScopes(
    { db, embeddings, readers: { memory: readMemoryTexts }, reportRejected: () => {} },
    new AbortController().signal,
  );
  const queryEmbedder = new QueryEmbedder({ embeddings, report: () => {}, timeLimitMs: 500 });
  expect(await memories.recall("vehicle", { queryEmbedder })).toEqual([
    "Anna rents an automobile",
    "Anna drives a small car",
  ]);
  expect(await memories.recall("vehicle")).toEqual([]);
});

test("the search index has no word of an earlier content or of a deleted memory", async () => {
  const { agentId: id, caller, deps } = memories;
  const index = new TestScope(service, { orgId: tenant.org_id, kind: "memory", ownerId: id });
  const indexedWords = async () => (await index.readRows()).postings.map(({ term }) => term);
  const [memoryId] = await memories.store("Zephyr launches");
  expect(await indexedWords()).toEqual(["launch", "zephyr"]);
  await correctMemory(deps, caller, { id, memory_id: memoryId!, content: "Atlas launches" });
  expect(await indexedWords()).toEqual(["atlas", "launch"]);
  await forgetMemory(deps, caller, { id, memory_id: memoryId! });
  expect(await indexedWords()).toEqual([]);
});
