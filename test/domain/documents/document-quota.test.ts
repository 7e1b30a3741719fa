import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { deleteDocument } from "../../../domain/documents/delete-document.ts";
import type { DocumentOwner } from "../../../domain/documents/document-owner.ts";
import { measureDocuments } from "../../../domain/documents/document-quota.ts";
import { listDocuments } from "../../../domain/documents/read-documents.ts";
import { searchPassages } from "../../../domain/documents/search-passages.ts";
import { changeDocument, type DocumentContent, storeDocument } from "../../../domain/documents/write-document.ts";
import { DEFAULT_LIMITS, Plans } from "../../../domain/plans/plans.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
let owner: DocumentOwner;

const free = { ...DEFAULT_LIMITS, apps: 1 };
/** The plan allows two documents and 1 MiB of text. */
const PLANS = new Plans({ free, small: { ...free, documents: 2, documentBytes: 1024 ** 2 } }, "small");

const db = () => service().service.parts.db;
const deps = () => ({
  em: service().service.parts.orm.em,
  plans: PLANS,
  textWorkers: service().service.parts.service.textWorkers,
});
const contentOf = (text: string): DocumentContent => {
  return { text, title: null, fileName: null, mediaType: "text/markdown", sizeBytes: text.length };
};
const add = (text: string, of = owner) =>
  storeDocument(deps(), of, { userId: null, content: contentOf(text), fields: {} });

beforeEach(() => {
  owner = { orgId: randomUUID(), projectId: null };
});

test("a third document is refused with the quota and the usage, until one is deleted, and a change is not", async () => {
  const first = await add("One");
  await add("Two");
  const message = 'The plan "small" allows 2 documents and 2 exist. Delete a document or move to a larger plan.';
  await expect(add("Three")).rejects.toMatchObject({ code: "plan_limit", message });
  const content = contentOf("Uno");
  expect(await changeDocument(deps(), owner, { id: first.id, userId: null, content, fields: {} })).toMatchObject({
    status: "updated",
  });
  await deleteDocument(deps(), owner, first.id);
  expect(await add("Three")).toMatchObject({ status: "created" });
});

test("a text beyond the quota is refused with the usage, and nothing of it is stored", async () => {
  const { id } = await add("Flights. ".repeat(70_000));
  const message =
    'The plan "small" allows 1 MiB of text in documents and their kept versions. 0.601 MiB are used, and this text needs 0.501 MiB. Delete a document or move to a larger plan.';
  const text = "Boats. ".repeat(75_000);
  await expect(add(text)).rejects.toMatchObject({ code: "plan_limit", message });
  const change = { id, userId: null, content: contentOf(text), fields: { title: "New" } };
  await expect(changeDocument(deps(), owner, change)).rejects.toMatchObject({ code: "plan_limit", message });
  expect((await listDocuments(db(), owner, { limit: 10 })).documents).toMatchObject([
    { title: "Untitled", version: 1 },
  ]);
  const { hits } = await searchPassages({ db: db(), queryEmbedder: null }, owner, { text: "boats", limit: 1 });
  expect(hits).toEqual([]);
});

test("the plan of an organization decides", async () => {
  const tenant = await service().tenant({ plan: "free" });
  for (const text of ["One", "Two", "Three"])
    expect(await add(text, { orgId: tenant.org_id, projectId: null })).toMatchObject({ status: "created" });
});

test("a text whose index takes more than 20 times its size counts by its index", async () => {
  const words = Array.from({ length: 20_000 }, (_, index) => String.fromCodePoint(0x4e00 + index)).join("");
  await add(words);
  const { bytes } = await measureDocuments(db(), owner.orgId);
  expect(bytes).toBeGreaterThan(3 * Buffer.byteLength(words));
  await add("Flights need an approval. ".repeat(1000));
  expect((await measureDocuments(db(), owner.orgId)).bytes - bytes).toBe(26_000);
});

test("a document with too many different words is refused, and nothing of it is stored", async () => {
  const plans = new Plans({ free }, "free");
  const text = Array.from({ length: 410_000 }, (_, index) => index.toString(36))
    .join(" ")
    .slice(0, 2_000_000);
  const content = contentOf(text);
  await expect(storeDocument({ ...deps(), plans }, owner, { userId: null, content, fields: {} })).rejects.toMatchObject(
    {
      code: "invalid",
      message: "content: the document has more than 300000 different words. Split it into several documents.",
    },
  );
  expect(await measureDocuments(db(), owner.orgId)).toEqual({ documents: 0, bytes: 0 });
});
