import { beforeEach, expect, test } from "vitest";
import {
  type KnowledgeAnswer,
  searchKnowledge,
  type SearchKnowledgeDeps,
} from "../../../domain/knowledge/search-knowledge.ts";
import { FairQueue } from "../../../domain/shared/fair-queue.ts";
import { embedScopes } from "../../../domain/search/embed-scopes.ts";
import { QueryEmbedder } from "../../../domain/search/query-embedder.ts";
import { EMBEDDED_TEXT_READERS } from "../../../server/worker/text-readers.ts";
import { MemoryCounter } from "../../../server/drivers/counter/memory-counter.ts";
import { countModelCall } from "../../../domain/rate-limits/limit-model-calls.ts";
import { DEFAULT_LIMITS, Plans } from "../../../domain/plans/plans.ts";
import { FakeModel } from "../../support/documents/fake-model.ts";
import { FakeEmbeddings } from "../../support/search/fake-embeddings.ts";
import type { Tenant } from "../../support/service/harness.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
let tenant: Tenant;
let reported: unknown[];

beforeEach(async () => {
  tenant = await service().tenant();
  reported = [];
});

async function add(content: string): Promise<string> {
  const { body } = await tenant.rest.post("/v1/knowledge/documents", { kind: "policy", content });
  return String(body["document_id"]);
}

/** Asks without a language model and embeddings, unless the test has them. */
function ask(
  query: string,
  deps: Partial<SearchKnowledgeDeps> = {},
  limit = 10,
  signal?: AbortSignal,
): Promise<KnowledgeAnswer> {
  const { db } = service().service.parts;
  const reportModelError = (error: unknown) => reported.push(error);
  const mayCallModel = () => Promise.resolve(true);
  const modelCalls = new FairQueue({ running: 2, runningPerKey: 1, waiting: 0 }, "other answers are being written");
  const all = { db, queryEmbedder: null, languageModel: null, modelCalls, mayCallModel, reportModelError, ...deps };
  const caller = { orgId: tenant.org_id, userId: tenant.user_id, role: "member", scope: "read" } as const;
  return searchKnowledge(all, { ...caller, credential: { kind: "api_key", id: "one" } }, { query, limit }, signal);
}

interface Written {
  text: string;
  citations: { passage: number; quote: string }[];
}
const answerOf = (...sentences: Written[]) => new FakeModel(JSON.stringify({ sentences }));

test("a sentence that was found by its meaning has the similarity as its score", async () => {
  await add("# Handbook\n\nMothers stay home, Cosine 0.80.");
  const embeddings = new FakeEmbeddings();
  const { db } = service().service.parts;
  const { signal } = new AbortController();
  await embedScopes({ db, embeddings, readers: EMBEDDED_TEXT_READERS, reportRejected: () => undefined }, signal);
  const queryEmbedder = new QueryEmbedder({ embeddings, report: () => undefined });
  const quote = "Mothers stay home, Cosine 0.80.";
  expect(await ask("newborn", { queryEmbedder })).toMatchObject({
    answer: "Mothers stay home, Cosine 0.80 [1]",
    citations: [{ n: 1, title: "Handbook", quote, score: 0.8 }],
  });
  expect((await ask("newborn")).citations).toEqual([]);
  // A sentence with the words of the question is found by them, and scored by how much of the question it covers.
  expect((await ask("mothers home", { queryEmbedder })).citations).toMatchObject([{ quote, score: 1 }]);
});

test("the score of a citation has three decimals", async () => {
  await add("Refunds take five days.");
  await add("Invoices are paid.");
  await add("Invoices are late.");
  const { citations } = await ask("please explain refund days");
  expect(citations).toHaveLength(1);
  expect(String(citations[0]!.score)).toMatch(/^0\.[1-9]\d{0,2}$/);
});

test("sentences are left out from the one on whose citations exceed the limit", async () => {
  await add("Aaa one here. Aaa two here. Aaa three here. Aaa four here.");
  const cite = (...numbers: string[]) => numbers.map((number) => ({ passage: 1, quote: `Aaa ${number} here.` }));
  const languageModel = answerOf(
    { text: "One and two.", citations: cite("one", "two") },
    { text: "Three and four.", citations: cite("three", "four") },
    { text: "Only one.", citations: cite("one") },
  );
  expect((await ask("aaa", { languageModel }, 4)).answer).toBe("One and two [1][2]\nThree and four [3][4]");
  expect((await ask("aaa", { languageModel }, 5)).answer).toBe(
    "One and two [1][2]\nThree and four [3][4]\nOnly one [1]",
  );
  expect((await ask("aaa", { languageModel }, 3)).answer).toBe("One and two [1][2]");
  expect((await ask("aaa", { languageModel }, 1)).citations).toEqual([]);
});

test("the same sentence of two documents has two citations, and of one document only one", async () => {
  const ids = [await add("Aaa is here. Bbb is there."), await add("Aaa is here. Ccc is there.")];
  const quote = "Aaa is here.";
  const languageModel = answerOf({
    text: "Aaa, here.",
    citations: [1, 2, 1].map((passage) => ({ passage, quote })),
  });
  const { answer, citations } = await ask("aaa", { languageModel });
  expect(answer).toBe("Aaa, here [1][2][1]");
  expect(citations.map(({ document_id: id }) => id).toSorted()).toEqual(ids.toSorted());
});

test("no error of a model is reported without a model, and one that fails is reported", async () => {
  await add("Aaa is here.");
  expect((await ask("aaa")).answer).toBe("Aaa is here [1]");
  expect(reported).toEqual([]);
  const error = new Error("unavailable");
  const languageModel = { generate: () => Promise.reject(error) };
  expect((await ask("aaa", { languageModel })).answer).toBe("Aaa is here [1]");
  expect(reported).toEqual([error]);
});

test("beyond the model calls of its plan, an organization gets sentences of its documents", async () => {
  await add("Aaa one here.");
  const languageModel = answerOf({ text: "Aaa, one.", citations: [{ passage: 1, quote: "Aaa one here." }] });
  const { db } = service().service.parts;
  const counter = new MemoryCounter();
  const plans = new Plans(
    { free: { ...DEFAULT_LIMITS, apps: 1, modelCalls: { limit: 2, windowSeconds: 60 } } },
    "free",
  );
  const mayCallModel = (orgId: string) => countModelCall({ db, plans, counter }, orgId);
  const answers = [];
  for (let n = 0; n < 3; n++) answers.push((await ask("aaa", { languageModel, mayCallModel })).answer);
  expect(answers).toEqual(["Aaa, one [1]", "Aaa, one [1]", "Aaa one here [1]"]);
  expect(languageModel.requests).toHaveLength(2);
});

test("while the share of an organization in the model calls is used, its searches respond without the model", async () => {
  await add("Aaa one here.");
  const { promise, resolve } = Promise.withResolvers<string>();
  const languageModel = { generate: () => promise };
  const modelCalls = new FairQueue({ running: 2, runningPerKey: 1, waiting: 0 }, "other answers are being written");
  const first = ask("aaa", { languageModel, modelCalls });
  await expect.poll(() => modelCalls.counts.running).toBe(1);
  expect((await ask("aaa", { languageModel, modelCalls })).answer).toBe("Aaa one here [1]");
  resolve(JSON.stringify({ sentences: [{ text: "Aaa, one.", citations: [{ passage: 1, quote: "Aaa one here." }] }] }));
  expect((await first).answer).toBe("Aaa, one [1]");
});

test("a caller who leaves ends the call of the model", async () => {
  await add("Aaa one here.");
  const leaving = new AbortController();
  const languageModel = {
    generate: (_request: unknown, signal?: AbortSignal) =>
      new Promise<string>((_resolve, reject) => {
        signal?.addEventListener("abort", () => reject(new Error("the call ended")));
        leaving.abort(new Error("the caller has left"));
      }),
  };
  await expect(ask("aaa", { languageModel }, 10, leaving.signal)).rejects.toThrow("the caller has left");
  expect(reported).toEqual([]);
});
