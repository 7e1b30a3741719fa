import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { queryBuilderOf } from "../../../domain/database-types.ts";
import { deleteDocumentsOf } from "../../../domain/documents/delete-document.ts";
import { deleteDocument } from "../../../domain/documents/delete-document.ts";
import { DOCUMENT_LIMITS } from "../../../domain/documents/document-limits.ts";
import type { DocumentOwner } from "../../../domain/documents/document-owner.ts";
import { readContent, type SentContent } from "../../../domain/documents/read-content.ts";
import {
  getDocument,
  getDocumentSummary,
  listDocuments,
  listVersions,
} from "../../../domain/documents/read-documents.ts";
import { type SearchPassages, searchPassages } from "../../../domain/documents/search-passages.ts";
import {
  changeDocument,
  type DocumentFields,
  restoreVersion,
  storeDocument,
} from "../../../domain/documents/write-document.ts";
import { DEFAULT_LIMITS, Plans } from "../../../domain/plans/plans.ts";
import { Project } from "../../../domain/projects/project.entity.ts";
import { pdfFile } from "../../../bench/support/pdf-file.ts";
import { sharedReader } from "../../support/documents/test-reader.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const TEXT = "# Travel\n\nBook **trains** early.\n\n## Flights\n\nFlights need an approval.";

const service = sharedHarness();
const reader = sharedReader();
let owner: DocumentOwner;

const db = () => service().service.parts.db;
const deps = () => ({
  em: service().service.parts.orm.em,
  plans: PLANS,
  textWorkers: service().service.parts.service.textWorkers,
});
const userId = randomUUID();
const PLANS = new Plans({ free: { ...DEFAULT_LIMITS, apps: 1 } }, "free");

beforeEach(() => {
  owner = { orgId: randomUUID(), projectId: null };
});

/** A new project of the organization. */
async function givenProject(): Promise<DocumentOwner> {
  const em = deps().em.fork();
  const project = em.create(Project, { orgId: owner.orgId, name: randomUUID(), kind: "client", description: "" });
  await em.flush();
  return { ...owner, projectId: project.id };
}

async function contentOf(sent: SentContent) {
  const content = await readContent(reader(), sent, owner);
  if (content === undefined) throw new Error("no content");
  return content;
}

async function store(sent: SentContent, fields: DocumentFields = {}, of = owner) {
  return storeDocument(deps(), of, { userId, content: await contentOf(sent), fields });
}

async function find(text: string, of = owner): Promise<string[]> {
  const { hits } = await searchPassages({ db: db(), queryEmbedder: null }, of, { text, limit: 10 });
  return hits.map(({ content }) => content);
}

const read = (id: string, version?: number) => getDocument(db(), owner, { id, version, maxCharacters: 10_000 });

test("a stored text is found by its passages, with the headings above them", async () => {
  const { id, status } = await store({ content: TEXT }, { kind: "policy" });
  expect(status).toBe("created");
  const search = (request: Pick<SearchPassages, "text" | "kind">) =>
    searchPassages({ db: db(), queryEmbedder: null }, owner, { ...request, limit: 5 });
  expect((await search({ text: "who approves a flight?" })).hits).toMatchObject([
    {
      documentId: id,
      documentTitle: "Travel",
      kind: "policy",
      heading: "Travel > Flights",
      content: "Flights need an approval.",
      score: expect.any(Number),
    },
  ]);
  expect((await search({ text: "flight", kind: "faq" })).hits).toEqual([]);
});

test("a document of another project or organization is neither found nor read", async () => {
  const project = await givenProject();
  const { id } = await store({ content: TEXT }, {}, project);
  for (const other of [owner, await givenProject(), { orgId: randomUUID(), projectId: project.projectId }]) {
    expect(await find("flights", other)).toEqual([]);
    expect((await listDocuments(db(), other, { limit: 10 })).documents).toEqual([]);
    const change = { id, userId, fields: { title: "Mine" } };
    for (const call of [
      () => getDocument(db(), other, { id, maxCharacters: 100 }),
      () => getDocumentSummary(db(), other, id),
      () => listVersions(db(), other, id),
      () => changeDocument(deps(), other, change),
      () => restoreVersion(deps(), other, { id, number: 1, userId }),
      () => deleteDocument(deps(), other, id),
    ])
      await expect(call()).rejects.toMatchObject({
        code: "not_found",
        message: expect.stringMatching(/^(Document|Project) not found\./),
      });
  }
  expect(await find("flights", project)).toHaveLength(1);
});

test("a new text becomes a version, and only its words are found", async () => {
  const { id } = await store({ content: TEXT });
  const change = { id, userId, content: await contentOf({ content: "Ships are forbidden." }), fields: {} };
  expect(await changeDocument(deps(), owner, change)).toEqual({ id, status: "updated" });
  expect([await find("flights"), await find("ship")]).toEqual([[], ["Ships are forbidden."]]);
  expect((await listVersions(db(), owner, id)).versions.map(({ number }) => number)).toEqual([2, 1]);
  expect([(await read(id)).content, (await read(id, 1)).content]).toEqual(["Ships are forbidden.\n", `${TEXT}\n`]);
});

test("the same text again is not a new version", async () => {
  const { id } = await store({ content: TEXT });
  const change = { id, userId, content: await contentOf({ content: `${TEXT}\r\n\n` }), fields: { title: "Travel" } };
  expect(await changeDocument(deps(), owner, change)).toEqual({ id, status: "unchanged" });
  expect((await getDocumentSummary(db(), owner, id)).version).toBe(1);
});

test("a restored version is a new version with its text", async () => {
  const { id } = await store({ content: TEXT });
  await changeDocument(deps(), owner, { id, userId, content: await contentOf({ content: "Ships." }), fields: {} });
  expect(await restoreVersion(deps(), owner, { id, number: 1, userId })).toEqual({ id, status: "updated" });
  expect((await listVersions(db(), owner, id)).versions).toMatchObject([{ number: 3, restored: 1 }, {}, {}]);
  expect([await find("ships"), (await find("flights")).length]).toEqual([[], 1]);
  await expect(restoreVersion(deps(), owner, { id, number: 9, userId })).rejects.toMatchObject({
    code: "not_found",
    message: expect.stringContaining("Version not found"),
  });
});

test("the newest versions are kept, and the bytes of the others are not counted", async () => {
  const { id } = await store({ content: "Version 0" });
  for (let number = 1; number <= DOCUMENT_LIMITS.versions + 2; number++)
    await changeDocument(deps(), owner, {
      id,
      userId,
      content: await contentOf({ content: `Version ${number}` }),
      fields: {},
    });
  const { versions } = await listVersions(db(), owner, id);
  expect([versions.length, versions.at(-1)?.number]).toEqual([DOCUMENT_LIMITS.versions, 4]);
  const row = await db().selectFrom("documents").select("stored_bytes").where("id", "=", id).executeTakeFirstOrThrow();
  expect(row.stored_bytes).toBe(versions.reduce((sum, { size_bytes: bytes }) => sum + bytes + 1, 0));
});

test("a changed title and language are found, and the words of the old title are not", async () => {
  const { id } = await store({ content: "Die Züge sind pünktlich." }, { title: "Rules" });
  const fields = { title: "Bahnreisen", language: "german" as const };
  await changeDocument(deps(), owner, { id, userId, fields });
  expect([await find("rules"), (await find("zug")).length, (await find("bahnreise")).length]).toEqual([[], 1, 1]);
});

test("a file with the name of an earlier upload becomes a version of its document", async () => {
  const file = (text: string) => ({ name: "hr/leave_rules.md", content: Buffer.from(text).toString("base64") });
  const first = await store({ file: file("Everyone has 30 days.") });
  expect(await getDocumentSummary(db(), owner, first.id)).toMatchObject({
    title: "Leave rules",
    file_name: "hr/leave_rules.md",
  });
  expect(await store({ file: file("Everyone has 30 days.") })).toEqual({ id: first.id, status: "unchanged" });
  expect(await store({ file: file("Everyone has 31 days.") })).toEqual({ id: first.id, status: "updated" });
  expect((await listDocuments(db(), owner, { limit: 10 })).documents).toHaveLength(1);
});

test("a PDF file is stored as the text that it contains", async () => {
  const pdf = pdfFile([
    [
      { text: "Refunds", top: 80, size: 20 },
      { text: "Refunds take five days.", top: 110 },
    ],
  ]);
  const { id } = await store({ file: { name: "refunds.pdf", content: pdf.toString("base64") } });
  expect(await read(id)).toMatchObject({ title: "Refunds", content: "# Refunds\n\nRefunds take five days.\n" });
  expect((await listVersions(db(), owner, id)).versions).toMatchObject([
    { media_type: "application/pdf", file_name: "refunds.pdf", size_bytes: pdf.length },
  ]);
});

test("a long document is read in parts that together are the document", async () => {
  const text = Array.from({ length: 300 }, (_, index) => `Line ${index} "quoted" 😀`).join("\n");
  const { id } = await store({ content: text });
  let content = "";
  let offset: number | null = 0;
  while (offset !== null) {
    const part: Awaited<ReturnType<typeof getDocument>> = await getDocument(db(), owner, {
      id,
      offset,
      maxCharacters: 500,
    });
    expect(JSON.stringify(part.content).length).toBeLessThanOrEqual(502);
    expect([part.offset, part.total_characters]).toEqual([offset, text.length + 1]);
    content += part.content;
    offset = part.next_offset;
  }
  expect(content).toBe(`${text}\n`);
});

test("a page of the list continues where the one before ended", async () => {
  for (const title of ["B", "A", "C", "A"]) await store({ content: `Text of ${title}.` }, { title });
  const titles: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await listDocuments(db(), owner, { limit: 3, cursor });
    titles.push(...page.documents.map(({ title }) => title));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  expect(titles).toEqual(["A", "A", "B", "C"]);
  await expect(listDocuments(db(), owner, { limit: 3, cursor: "x" })).rejects.toMatchObject({ code: "invalid" });
});

test("a deleted document leaves no row and is not found", async () => {
  const { id } = await store({ content: TEXT });
  expect(await deleteDocument(deps(), owner, id)).toEqual({ status: "deleted" });
  expect(await find("flights")).toEqual([]);
  for (const table of ["document_passages", "document_versions"] as const)
    expect(await db().selectFrom(table).selectAll().where("document_id", "=", id).execute()).toEqual([]);
  for (const absent of [id, "no-id"])
    await expect(getDocumentSummary(db(), owner, absent)).rejects.toMatchObject({ code: "not_found" });
  await expect(deleteDocument(deps(), owner, "no-id")).rejects.toMatchObject({ code: "not_found" });
});

test("all documents of a project are deleted together", async () => {
  const project = await givenProject();
  const { id } = await store({ content: TEXT }, {}, project);
  await store({ content: TEXT });
  await service()
    .service.parts.orm.em.fork()
    .transactional((em) => deleteDocumentsOf(queryBuilderOf(em), project));
  expect([(await find("flights", project)).length, (await find("flights")).length]).toEqual([0, 1]);
  expect((await listDocuments(db(), project, { limit: 10 })).documents).toEqual([]);
  for (const table of ["document_passages", "document_versions"] as const)
    expect(await db().selectFrom(table).selectAll().where("document_id", "=", id).execute()).toEqual([]);
});

test.each([
  ["an empty text", { content: " \u0000\n" }, {}, /has no text/],
  ["a text that is too long", { content: "x".repeat(DOCUMENT_LIMITS.textBytes + 1) }, {}, /more than 2 MiB of text/],
  ["a title with a line break", { content: "a" }, { title: "a\nb" }, /^title: must be one line/],
  ["both a text and a file", { content: "a", file: { name: "a.md", content: "YQ==" } }, {}, /not both/],
  ["a file that is not base64", { file: { name: "a.md", content: "!" } }, {}, /in base64/],
  ["a file without a name", { file: { name: "", content: "YQ==" } }, {}, /^file\.name: must be/],
])("%s is rejected", async (_, sent, fields, message) => {
  await expect(store(sent, fields)).rejects.toMatchObject({ code: "invalid", message: expect.stringMatching(message) });
});

test("control characters and hidden characters are not stored", async () => {
  const { id } = await store({ content: "Pay\u0000 with\u202e card\u0007.\r\nNow" });
  expect((await read(id)).content).toBe("Pay with card.\nNow\n");
});

test("simultaneous uploads of one file create one document", async () => {
  const file = { name: "a.md", content: Buffer.from("Some text").toString("base64") };
  const written = await Promise.all(Array.from({ length: 4 }, () => store({ file })));
  expect(new Set(written.map(({ id }) => id)).size).toBe(1);
  expect(written.map(({ status }) => status).toSorted()).toEqual(["created", "unchanged", "unchanged", "unchanged"]);
});
