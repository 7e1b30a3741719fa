import { createHash, randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { deleteDocument } from "../../../domain/documents/delete-document.ts";
import { DOCUMENT_LIMITS } from "../../../domain/documents/document-limits.ts";
import type { DocumentOwner } from "../../../domain/documents/document-owner.ts";
import {
  getDocument,
  getDocumentSummary,
  listDocuments,
  listVersions,
} from "../../../domain/documents/read-documents.ts";
import {
  changeDocument,
  type DocumentContent,
  type DocumentFields,
  restoreVersion,
  storeDocument,
} from "../../../domain/documents/write-document.ts";
import { DEFAULT_LIMITS, Plans } from "../../../domain/plans/plans.ts";
import { nextMillisecond } from "../../support/next-millisecond.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
let owner: DocumentOwner;

const db = () => service().service.parts.db;
const deps = () => ({
  em: service().service.parts.orm.em,
  plans: PLANS,
  textWorkers: service().service.parts.service.textWorkers,
});
const [author, editor] = [randomUUID(), randomUUID()];
const PLANS = new Plans({ free: { ...DEFAULT_LIMITS, apps: 1 } }, "free");

beforeEach(() => {
  owner = { orgId: randomUUID(), projectId: null };
});

function written(text: string, more: Partial<DocumentContent> = {}): DocumentContent {
  return { text, title: null, fileName: null, mediaType: "text/markdown", sizeBytes: Buffer.byteLength(text), ...more };
}

const uploaded = (fileName: string, text: string) =>
  written(text, { fileName, mediaType: "application/pdf", sizeBytes: 1000 });

const store = (content: DocumentContent, fields: DocumentFields = {}) =>
  storeDocument(deps(), owner, { userId: author, content, fields });

const change = (id: string, content: DocumentContent | undefined, fields: DocumentFields = {}) =>
  changeDocument(deps(), owner, { id, userId: editor, content, fields });

const summary = (id: string) => getDocumentSummary(db(), owner, id);

test("a new document has the fields that are given, else those of its content, else defaults", async () => {
  const plain = await store(written("One"));
  expect(await summary(plain.id)).toEqual({
    document_id: plain.id,
    title: "Untitled",
    kind: null,
    language: "auto",
    file_name: null,
    source_id: null,
    version: 1,
    created_by: author,
    updated_by: author,
    created_at: expect.any(String),
    updated_at: expect.any(String),
  });
  const titled = await store(written("Two", { title: "Own title" }));
  expect(await summary(titled.id)).toMatchObject({ title: "Own title" });
  const given = { title: "Given", kind: "brand", language: "german" } as const;
  expect(await summary((await store(written("Three", { title: "Own title" }), given)).id)).toMatchObject(given);
});

test("no document is stored, changed or deleted in a project that does not exist", async () => {
  const { id } = await store(written("One"));
  owner = { ...owner, projectId: randomUUID() };
  for (const call of [
    () => store(written("One")),
    () => change(id, written("Two")),
    () => deleteDocument(deps(), owner, id),
  ])
    await expect(call()).rejects.toMatchObject({
      code: "not_found",
      message: expect.stringMatching(/^Project not found\./),
    });
});

test("a document is changed and deleted without another one", async () => {
  const [{ id }, { id: other }] = [await store(written("One")), await store(uploaded("a.pdf", "Other"))];
  const readOther = async () => [
    await getDocument(db(), owner, { id: other, maxCharacters: 100 }),
    await listVersions(db(), owner, other),
  ];
  const before = await readOther();
  for (let number = 0; number <= DOCUMENT_LIMITS.versions; number++) await change(id, written(`Text ${number}`));
  await change(id, undefined, { title: "New" });
  expect(await readOther()).toEqual(before);
  await deleteDocument(deps(), owner, id);
  expect(await readOther()).toEqual(before);
});

test("a change of one field changes neither the others nor the text", async () => {
  const { id } = await store(written("One"), { title: "A", kind: "faq" });
  const before = await summary(id);
  await nextMillisecond();
  for (const fields of [{ title: "B" }, { kind: "sop" }, { language: "german" }] as const) {
    expect(await change(id, undefined, fields)).toEqual({ id, status: "updated" });
    expect(await change(id, undefined, fields)).toEqual({ id, status: "unchanged" });
  }
  const after = await summary(id);
  const changed = { title: "B", kind: "sop", language: "german", updated_by: editor } as const;
  expect(after).toEqual({ ...before, ...changed, updated_at: after.updated_at });
  expect(after.updated_at > before.updated_at).toBe(true);
  expect((await listVersions(db(), owner, id)).versions).toHaveLength(1);
  await change(id, undefined, { kind: null });
  expect(await summary(id)).toMatchObject({ kind: null });
  await expect(change(id, undefined, { title: "" })).rejects.toMatchObject({ code: "invalid" });
});

test("a version has the hash of its text, and what was sent", async () => {
  const { id } = await store(written("é"));
  await change(id, uploaded("a.pdf", "Two"));
  expect(await summary(id)).toMatchObject({ file_name: "a.pdf", version: 2, updated_by: editor, created_by: author });
  const hash = (text: string) => createHash("sha256").update(text).digest("hex");
  const { versions } = await listVersions(db(), owner, id);
  expect(versions).toEqual([
    {
      number: 2,
      content_hash: hash("Two\n"),
      restored: null,
      file_name: "a.pdf",
      media_type: "application/pdf",
      size_bytes: 1000,
      created_by: editor,
      created_at: expect.any(String),
    },
    {
      number: 1,
      content_hash: hash("é\n"),
      restored: null,
      file_name: null,
      media_type: "text/markdown",
      size_bytes: 2,
      created_by: author,
      created_at: expect.any(String),
    },
  ]);
  await change(id, written("Three"));
  expect(await summary(id)).toMatchObject({ file_name: "a.pdf" });
  await restoreVersion(deps(), owner, { id, number: 2, userId: author });
  expect((await listVersions(db(), owner, id)).versions[0]).toMatchObject({
    ...versions[0],
    number: 4,
    restored: 2,
    created_by: author,
    created_at: expect.any(String),
  });
});

test("an uploaded file changes the oldest document with its name", async () => {
  const first = await store(uploaded("a.pdf", "One"));
  await nextMillisecond();
  const second = await store(written("Two"));
  await change(second.id, uploaded("a.pdf", "Three"));
  expect(await store(uploaded("a.pdf", "Four"), { title: "New" })).toEqual({ id: first.id, status: "updated" });
  expect(await summary(first.id)).toMatchObject({ title: "New", version: 2, updated_by: author });
  expect((await store(uploaded("b.pdf", "One"))).status).toBe("created");
  owner = { orgId: randomUUID(), projectId: null };
  expect((await store(uploaded("a.pdf", "One"))).status).toBe("created");
});

test("a list has the documents of a kind by title, and a cursor only if more follow", async () => {
  for (const title of ["C", "A", "B"]) await store(written(title), { title, kind: title === "B" ? "faq" : "sop" });
  const list = async (request: Partial<Parameters<typeof listDocuments>[2]>) => {
    const { documents, next_cursor: cursor } = await listDocuments(db(), owner, { limit: 3, ...request });
    return { titles: documents.map(({ title }) => title), cursor };
  };
  expect(await list({})).toEqual({ titles: ["A", "B", "C"], cursor: null });
  expect(await list({ kind: "sop" })).toEqual({ titles: ["A", "C"], cursor: null });
  const { titles, cursor } = await list({ kind: "sop", limit: 1 });
  expect(titles).toEqual(["A"]);
  expect(await list({ kind: "sop", limit: 1, cursor: cursor! })).toEqual({ titles: ["C"], cursor: null });
  for (const text of ["", "A", `${randomUUID()} A\0`, `${"x".repeat(36)} A`])
    await expect(list({ cursor: Buffer.from(text).toString("base64url") })).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringMatching(/^cursor: /),
    });
});

test("a part of a document ends at the end of a line, if one ends in its last quarter", async () => {
  const { id } = await store(written(`${"a".repeat(77)}\n${"b".repeat(50)}\n${"c".repeat(100)}`));
  const read = (offset?: number, version?: number) =>
    getDocument(db(), owner, { id, offset, version, maxCharacters: 100 });
  // The line break is two characters as JSON.
  expect(await read()).toMatchObject({
    content: `${"a".repeat(77)}\n`,
    offset: 0,
    next_offset: 78,
    total_characters: 230,
  });
  expect(await read(10)).toMatchObject({ content: `${"a".repeat(67)}\n${"b".repeat(31)}`, next_offset: 109 });
  expect(await read(78)).toMatchObject({ content: `${"b".repeat(50)}\n${"c".repeat(48)}`, next_offset: 177 });
  expect(await read(177)).toMatchObject({ content: `${"c".repeat(52)}\n`, offset: 177, next_offset: null });
  expect(await read(230)).toMatchObject({ content: "", offset: 230, next_offset: null });
  expect(await read(1000)).toMatchObject({ content: "", offset: 230, next_offset: null });
  await change(id, written("New"));
  expect(await read(0)).toMatchObject({ content: "New\n", version: 2, next_offset: null });
  expect(await read(0, 1)).toMatchObject({ version: 1, next_offset: 78 });
  await expect(read(0, 3)).rejects.toMatchObject({ code: "not_found", message: expect.stringMatching(/^Version not/) });
});

test("simultaneous changes of one document are all stored, one after the other", async () => {
  const { id } = await store(written("Zero"));
  const texts = ["One", "Two", "Three", "Four"];
  const results = await Promise.all(texts.map((text) => change(id, written(text))));
  expect(results.map(({ status }) => status)).toEqual(texts.map(() => "updated"));
  expect(await summary(id)).toMatchObject({ version: 5 });
});

test("simultaneous uploads of one file become versions of one document", async () => {
  const results = await Promise.all(["One", "Two", "Three"].map((text) => store(uploaded("same.md", text))));
  expect(new Set(results.map(({ id }) => id)).size).toBe(1);
  expect(await summary(results[0]!.id)).toMatchObject({ version: 3 });
});
