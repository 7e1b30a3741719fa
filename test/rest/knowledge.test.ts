import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { AuditEvent } from "../../domain/audit/audit-event.entity.ts";
import { docxFile, wordParagraph } from "../support/documents/docx-file.ts";
import { pdfFile } from "../../bench/support/pdf-file.ts";
import type { Tenant } from "../support/service/harness.ts";
import { zipArchive, type ZipEntry } from "../support/service/zip-archive.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness();
const DOCUMENTS = "/v1/knowledge/documents";
let tenant: Tenant;

beforeEach(async () => {
  tenant = await service().tenant();
});

const base64 = (content: string | Buffer) => Buffer.from(content).toString("base64");
const add = (body: object) => tenant.rest.post(DOCUMENTS, body);
const upload = (name: string, content: string | Buffer, more: object = {}) =>
  add({ kind: "policy", file: { name, content: base64(content) }, ...more });

function send(method: string, path: string, body?: object) {
  const json = { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  return tenant.rest.send(method, `${DOCUMENTS}/${path}`, body === undefined ? {} : json);
}

verifies(
  "knowledge.change",
  "201 a document is stored, listed by kind, read, changed, restored and deleted",
  async () => {
    const added = await add({ kind: "policy", content: "# Leave\n\nEveryone has 30 days." });
    const id = String(added.body["document_id"]);
    const summary = {
      document_id: id,
      title: "Leave",
      kind: "policy",
      language: "auto",
      file_name: null,
      source_id: null,
      version: 1,
    };
    expect([added.status, added.body]).toEqual([
      201,
      {
        ...summary,
        status: "created",
        created_by: tenant.user_id,
        updated_by: tenant.user_id,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ]);
    await add({ kind: "faq", title: "Answers", content: "Yes." });
    const listed = await tenant.rest.get(`${DOCUMENTS}?kind=policy`);
    expect(listed.body).toMatchObject({ documents: [summary], next_cursor: null });
    expect((await tenant.rest.get(`${DOCUMENTS}?limit=1`)).body).toMatchObject({ documents: [{ title: "Answers" }] });
    const changed = await send("PATCH", id, { content: "Everyone has 31 days.", kind: "sop" });
    expect([changed.status, changed.body]).toMatchObject([200, { status: "updated", version: 2, kind: "sop" }]);
    expect((await send("PATCH", id, { kind: "sop" })).body["status"]).toBe("unchanged");
    const restored = await send("POST", `${id}/versions/1/restore`, {});
    expect(restored.body).toMatchObject({ status: "updated", version: 3 });
    expect((await tenant.rest.get(`${DOCUMENTS}/${id}`)).body).toMatchObject({
      content: "# Leave\n\nEveryone has 30 days.\n",
      version: 3,
      next_offset: null,
    });
    expect((await tenant.rest.get(`${DOCUMENTS}/${id}?version=2`)).body["content"]).toBe("Everyone has 31 days.\n");
    const versions = await tenant.rest.get(`${DOCUMENTS}/${id}/versions`);
    expect(versions.body["versions"]).toMatchObject([{ number: 3, restored: 1 }, { number: 2 }, { number: 1 }]);
    expect((await send("DELETE", id)).body).toEqual({ status: "deleted" });
    expect((await tenant.rest.get(`${DOCUMENTS}/${id}`)).status).toBe(404);
  },
);

test("201 files of every type are stored as their text", async () => {
  const page = [{ text: "Refunds take five days.", top: 100 }];
  for (const [name, content] of [
    ["refunds.md", "Refunds take five days."],
    ["refunds.txt", Buffer.from("\ufeffRefunds take five days.", "utf16le")],
    ["refunds.html", "<p>Refunds take <b>five</b> days.</p><script>no()</script>"],
    ["refunds.pdf", pdfFile([page])],
    ["refunds.docx", docxFile(wordParagraph("Refunds take five days."))],
  ] as const) {
    const { status, body } = await upload(`files/${name}`, content);
    expect([name, status, body["title"], body["file_name"]]).toEqual([name, 201, "Refunds", `files/${name}`]);
    const read = await tenant.rest.get(`${DOCUMENTS}/${String(body["document_id"])}`);
    expect([name, read.body["content"]]).toEqual([name, "Refunds take five days.\n"]);
  }
});

test("400 invalid documents are rejected with what is valid", async () => {
  for (const [request, message] of [
    [add({ kind: "policy" }), "Send either content or file."],
    [add({ kind: "memo", content: "a" }), /kind: .*policy/],
    [add({ content: "a" }), /kind: /],
    [add({ kind: "faq", content: "a", language: "klingon" }), /language: /],
    [add({ kind: "faq", content: "\u0000 \n" }), /content: the document has no text/],
    [add({ kind: "faq", content: "a", title: " a" }), /title: must be one line/],
    [upload("sales.key", "PK"), /file: the file has the type \.key\. Accepted types: Markdown/],
    [upload("broken.pdf", "%PDF-1.7 broken"), /file: the file is damaged/],
    [upload("a\u0000b.md", "text"), /file\.name: must be one line/],
    [add({ kind: "faq", file: { name: "a.md", content: "%%%" } }), /file\.content: must be .*base64/],
    [tenant.rest.get("/v1/knowledge/search"), /query: /],
    [tenant.rest.get("/v1/knowledge/search?query=%00"), /query: has 0 characters/],
    [tenant.rest.get(`${DOCUMENTS}?cursor=made-up`), /cursor: invalid cursor/],
  ] as const) {
    const { status, body } = await request;
    expect([status, body["error"]]).toEqual([400, expect.stringMatching(message)]);
  }
});

test("404 a document of another organization looks like an unknown one", async () => {
  const other = await service().tenant();
  const { body } = await other.rest.post(DOCUMENTS, { kind: "faq", content: "Secret" });
  for (const id of [String(body["document_id"]), randomUUID()])
    for (const [method, path, change] of [
      ["GET", id],
      ["GET", `${id}/versions`],
      ["PATCH", id, { title: "Mine" }],
      ["POST", `${id}/versions/1/restore`, {}],
      ["DELETE", id],
    ] as const) {
      const response = await send(method, path, change);
      expect([method, path, response.status, response.body]).toEqual([
        method,
        path,
        404,
        { error: "Document not found." },
      ]);
    }
  const search = await tenant.rest.get("/v1/knowledge/search?query=secret");
  expect(search.body["citations"]).toEqual([]);
});

test("201 the documents in a zip archive are stored by their paths, and what is not stored is named", async () => {
  const archive = (entries: ZipEntry[]) => ({
    kind: "policy",
    file: { name: "guide.zip", content: base64(zipArchive(entries)) },
  });
  const rules = { name: "travel/rules.md", content: "---\ntitle: Travel rules\n---\n\nBook trains seven days early." };
  const entries = [
    rules,
    { name: "brand.docx", content: docxFile(wordParagraph("The logo is green.")) },
    { name: "empty.html", content: "<p></p>" },
    { name: "logo.png", content: "PNG" },
    { name: "a/../../b.md", content: "Outside." },
    { name: ".hidden.md", content: "Hidden." },
  ];
  const first = await tenant.rest.post("/v1/knowledge/archives", archive(entries));
  expect(first).toMatchObject({
    status: 201,
    body: {
      documents: [
        { status: "created", title: "Travel rules", file_name: "guide/travel/rules.md" },
        { status: "created", title: "Brand", file_name: "guide/brand.docx" },
      ],
      refused: [
        { file: "guide/empty.html", error: expect.stringContaining("has no text") },
        { file: "guide/logo.png", error: "The file has the type .png, which is not read." },
        { file: "guide/a/../../b.md", error: expect.stringContaining("leads out of the archive") },
      ],
      left_out: 1,
    },
  });
  const again = await tenant.rest.post("/v1/knowledge/archives", archive([rules]));
  expect(again.body["documents"]).toMatchObject([{ status: "created", file_name: "travel/rules.md" }]);
  const same = await tenant.rest.post("/v1/knowledge/archives", archive([rules]));
  expect(same.body["documents"]).toMatchObject([{ status: "unchanged" }]);
  const wrong = { kind: "policy", file: { name: "a.zip", content: base64("no archive") } };
  expect(await tenant.rest.post("/v1/knowledge/archives", wrong)).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining("is not a zip file") },
  });
});

test("403 a token that only reads cannot change documents", async () => {
  const token = await tenant.rest.post("/v1/tokens", { kind: "api_key", name: "Reader", scope: "read" });
  const reader = tenant.rest.as(String(token.body["token"]));
  expect((await reader.post(DOCUMENTS, { kind: "faq", content: "a" })).status).toBe(403);
  expect((await reader.get(DOCUMENTS)).status).toBe(200);
});

test("a change of a document is in the audit log, without its text", async () => {
  const { body } = await add({ kind: "faq", title: "Prices", content: "Secret price" });
  await expect
    .poll(async () => {
      const events = await service().service.parts.orm.em.fork().find(AuditEvent, { orgId: tenant.org_id });
      return JSON.stringify(events);
    })
    .toContain("knowledge.add");
  const events = await service().service.parts.orm.em.fork().find(AuditEvent, { orgId: tenant.org_id });
  expect(JSON.stringify(events)).not.toContain("Secret price");
  expect(body["status"]).toBe("created");
});

verifies(
  "knowledge.search",
  "a document in another language does not change the answers to questions in English, and less so after its deletion",
  async () => {
    const prices = "# Price list 2026\n\nThe Team plan costs 49 euros per user and month.";
    const questions = "# FAQ\n\n## Can I cancel at any time?\n\nYes. Notice is not required.";
    await add({ kind: "pricing", content: `${prices}\n\n${questions}\n` });
    const ask = async () =>
      (await tenant.rest.get(`/v1/knowledge/search?query=${encodeURIComponent("Can I cancel at any time?")}`)).body;
    const before = await ask();
    expect((before["citations"] as unknown[]).length).toBeGreaterThan(0);
    const german = await add({ kind: "policy", content: "# Urlaub\n\nUrlaub wird beantragt.", language: "german" });
    expect(await ask()).toEqual(before);
    await send("DELETE", String(german.body["document_id"]));
    expect(await ask()).toEqual(before);
  },
);
