import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { deleteDocument } from "../../../domain/documents/delete-document.ts";
import type { DocumentOwner } from "../../../domain/documents/document-owner.ts";
import { readPassageTexts } from "../../../domain/documents/index-passages.ts";
import { type SearchPassages, searchPassages } from "../../../domain/documents/search-passages.ts";
import { changeDocument, type DocumentFields, storeDocument } from "../../../domain/documents/write-document.ts";
import { DEFAULT_LIMITS, Plans } from "../../../domain/plans/plans.ts";
import type { Embeddings } from "../../../domain/ports/embeddings.ts";
import { embedScopes } from "../../../domain/search/embed-scopes.ts";
import { QueryEmbedder } from "../../../domain/search/query-embedder.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
let owner: DocumentOwner;

const db = () => service().service.parts.db;
const deps = () => ({
  em: service().service.parts.orm.em,
  plans: PLANS,
  textWorkers: service().service.parts.service.textWorkers,
});
const PLANS = new Plans({ free: { ...DEFAULT_LIMITS, apps: 1 } }, "free");

beforeEach(() => {
  owner = { orgId: randomUUID(), projectId: null };
});

async function store(text: string, fields: DocumentFields = {}): Promise<string> {
  const content = { text, title: null, fileName: null, mediaType: "text/markdown", sizeBytes: 1 } as const;
  return (await storeDocument(deps(), owner, { userId: null, content, fields })).id;
}

async function search(request: Partial<SearchPassages> & { text: string }, queryEmbedder: QueryEmbedder | null = null) {
  const { hits } = await searchPassages({ db: db(), queryEmbedder }, owner, { limit: 10, ...request });
  return hits;
}

const readTexts = (from: number, limit = 10) =>
  readPassageTexts(db(), { orgId: owner.orgId, kind: "knowledge", ownerId: owner.orgId }, { from, limit });

test("each passage is stored with its place in the document and in the search index", async () => {
  const text = Array.from({ length: 1000 }, (_, index) => `# Part ${index}\n\nText ${index}.`).join("\n\n");
  const id = await store(text);
  const rows = await db()
    .selectFrom("document_passages")
    .selectAll()
    .where("document_id", "=", id)
    .orderBy("ordinal")
    .execute();
  expect(rows.map(({ ordinal, heading, content }) => [ordinal, heading, content])).toEqual(
    Array.from({ length: 1000 }, (_, index) => [index, `Part ${index}`, `Text ${index}.`]),
  );
  for (const { start_offset: start, end_offset: end, content } of rows) expect(text.slice(start, end)).toBe(content);
  expect(new Set(rows.map(({ index_id: id }) => id)).size).toBe(1000);
  expect(await search({ text: "999" })).toMatchObject([{ heading: "Part 999", content: "Text 999." }]);
  await deleteDocument(deps(), owner, id);
  expect(await search({ text: "999" })).toEqual([]);
});

test("the passages of an owner are read as they are indexed, in the order of the index", async () => {
  await store("# Trains\n\nBook early.\n\n# Flights\n\nAsk first.", { title: "Travel", kind: "sop" });
  await store("Reise", { title: "Deutsch", language: "german" });
  const owned = owner;
  owner = { orgId: randomUUID(), projectId: null };
  await store("Secret");
  owner = owned;
  const texts = await readTexts(0);
  expect(texts).toEqual([
    { indexId: 0, title: "Travel\nTrains", body: "Book early.", category: 3, language: "english" },
    { indexId: 1, title: "Travel\nFlights", body: "Ask first.", category: 3, language: "english" },
    { indexId: 2, title: "Deutsch\n", body: "Reise", category: 7, language: "german" },
  ]);
  expect(await readTexts(1, 1)).toEqual([texts[1]]);
  const foreign = { orgId: randomUUID(), kind: "knowledge", ownerId: owner.orgId } as const;
  expect(await readPassageTexts(db(), foreign, { from: 0, limit: 10 })).toEqual([]);
});

test("a passage is found by the title of its document, its heading and its words", async () => {
  const id = await store("# Trains\n\nBook early.", { title: "Travel", kind: "policy" });
  for (const text of ["travel", "trains", "early"])
    expect(await search({ text })).toEqual([
      {
        documentId: id,
        documentTitle: "Travel",
        kind: "policy",
        language: "english",
        heading: "Trains",
        content: "Book early.",
        score: expect.any(Number),
        similarity: null,
      },
    ]);
  await changeDocument(deps(), owner, { id, userId: null, fields: { kind: "faq" } });
  expect(await search({ text: "travel", kind: "policy" })).toEqual([]);
  expect(await search({ text: "travel", kind: "faq" })).toHaveLength(1);
});

test("of many passages the best ones are returned, also those whose words are close to each other", async () => {
  for (const text of ["Red cars. One, two, three, four, five, six, seven, eight, nine blue.", "Red is blue.", "Red."])
    await store(text, { title: text.slice(0, 5) });
  const hits = await search({ text: "red blue", limit: 1 });
  expect(hits.map(({ content }) => content)).toEqual(["Red is blue."]);
  expect(await search({ text: "red", limit: 2 })).toHaveLength(2);
  expect(
    (await searchPassages({ db: db(), queryEmbedder: null }, owner, { text: "red", limit: 1 })).words,
  ).toHaveLength(1);
});

/** Texts with "car" or "vehicle" have one meaning, and all other texts another one. */
const EMBEDDINGS: Embeddings = {
  model: "scripted",
  minSimilarity: 0.5,
  embed: async (texts) => texts.map((text) => Float32Array.from(/car|vehicle/i.test(text) ? [1, 0] : [0, 1])),
};

test("with embeddings, passages with a similar meaning are found too, and ranked with the others", async () => {
  const contents = ["A car needs fuel.", "Tea is hot.", "The vehicle is hot."];
  for (const content of contents) await store(content, { title: "T", kind: "faq" });
  const readers = { knowledge: readPassageTexts };
  await embedScopes(
    { db: db(), embeddings: EMBEDDINGS, readers, reportRejected: () => undefined },
    new AbortController().signal,
  );
  const embedder = new QueryEmbedder({ embeddings: EMBEDDINGS, report: () => undefined });
  const found = async (request: Partial<SearchPassages> & { text: string }) =>
    (await search(request, embedder)).map(({ content, similarity }) => [content, similarity]);
  expect(await found({ text: "hot vehicle" })).toEqual([
    ["The vehicle is hot.", 1],
    ["A car needs fuel.", 1],
    ["Tea is hot.", null],
  ]);
  expect(await found({ text: "hot vehicle", limit: 2 })).toEqual([
    ["The vehicle is hot.", 1],
    ["A car needs fuel.", 1],
  ]);
  expect(await found({ text: "carriage" })).toHaveLength(2);
  expect(await found({ text: "carriage", kind: "policy" })).toEqual([]);
});
