import { describe, expect, test } from "vitest";
import { categoryOf, DOCUMENT_KINDS } from "../../../domain/documents/document-kind.ts";
import { DOCUMENT_LIMITS } from "../../../domain/documents/document-limits.ts";
import { scopeOf } from "../../../domain/documents/document-owner.ts";
import { checkRoomForDocument, checkRoomForText } from "../../../domain/documents/document-quota.ts";
import { checkFileName, checkTitle, cleanContent, toTitle } from "../../../domain/documents/document-rules.ts";
import { readContent } from "../../../domain/documents/read-content.ts";
import type { DocumentFile, DocumentReader, ReadDocument } from "../../../domain/ports/document-reader.ts";

const invalid = (message: RegExp) =>
  expect.objectContaining({ code: "invalid", message: expect.stringMatching(message) });

test("a title has 1 to 200 characters, and the name of a file 1 to 255", () => {
  checkTitle("x".repeat(200));
  checkFileName("x".repeat(255));
  for (const title of ["", " a", "a\nb", "x".repeat(201)])
    expect(() => checkTitle(title)).toThrow(invalid(/^title: must be one line of 1 to 200 characters/));
  for (const name of ["", "a ", "a\u0000", "x".repeat(256)])
    expect(() => checkFileName(name)).toThrow(invalid(/^file\.name: must be one line of 1 to 255 characters/));
});

test("a title that is made of a text is one line of words", () => {
  expect(toTitle(" Travel\u0000\n\t policy\u200b\u2028now ")).toBe("Travel policy now");
  for (const text of ["x".repeat(201), ` ${"x".repeat(200)}`]) expect(toTitle(text)).toBe("x".repeat(200));
  expect(toTitle(`${"x".repeat(199)} yz`)).toBe("x".repeat(199));
  expect([toTitle(""), toTitle("\u200b \n")]).toEqual(["", ""]);
});

test("a text has at most 2 MiB in UTF-8, and ends with a line break", () => {
  const largest = "é".repeat(DOCUMENT_LIMITS.textBytes / 2);
  expect(cleanContent(` ${largest}\r\n\n`)).toBe(`${largest}\n`);
  expect(() => cleanContent(`${largest}x`)).toThrow(invalid(/^content: the document has more than 2 MiB of text/));
  for (const text of ["", " \n", "\u0000"]) expect(() => cleanContent(text)).toThrow(invalid(/has no text/));
});

test("each kind of document is a category of its own", () => {
  expect([...DOCUMENT_KINDS, null].map(categoryOf)).toEqual([0, 1, 2, 3, 4, 7]);
});

test("the documents of an organization and of a project are found in parts of the search index of their own", () => {
  const owner = { orgId: "organization", projectId: null };
  expect(scopeOf(owner)).toEqual({ orgId: "organization", kind: "knowledge", ownerId: "organization" });
  const ofProject = { orgId: "organization", kind: "project", ownerId: "project" };
  expect(scopeOf({ ...owner, projectId: "project" })).toEqual(ofProject);
});

test("a plan limits the number of documents and the size of their texts", () => {
  const MEBIBYTE = 1024 ** 2;
  const quota = { plan: "p", limits: { documents: 2, documentBytes: MEBIBYTE }, used: { documents: 1, bytes: 1000 } };
  checkRoomForDocument(quota);
  checkRoomForText(quota, MEBIBYTE - 1000);
  const full = expect.objectContaining({ code: "plan_limit" });
  expect(() => checkRoomForDocument({ ...quota, used: { documents: 2, bytes: 0 } })).toThrow(full);
  expect(() => checkRoomForText(quota, MEBIBYTE - 999)).toThrow(full);
});

describe("what a caller sends", () => {
  /** A reader that has read each file as this document. */
  function scripted(document: Partial<ReadDocument> = {}) {
    const files: DocumentFile[] = [];
    const reader: DocumentReader = {
      read: async (file) => {
        files.push(file);
        return { mediaType: "text/html", title: null, text: "Text", ...document };
      },
      unpack: async () => [],
    };
    return { files, reader };
  }
  const file = (name: string, bytes: Uint8Array | string = "x") => ({
    name,
    content: Buffer.from(bytes).toString("base64"),
  });
  const titleOf = async (content: string) =>
    (await readContent(scripted().reader, { content }, { orgId: "org-1" }))?.title;

  test("can be a text, whose first heading is its title", async () => {
    expect(await readContent(scripted().reader, { content: "# Café\n\nText" }, { orgId: "org-1" })).toEqual({
      text: "# Café\n\nText",
      title: "Café",
      fileName: null,
      mediaType: "text/markdown",
      sizeBytes: 13,
    });
    expect(await titleOf("# A\n\n## B\n\nText")).toBe("A");
    expect(await titleOf("[A link](https://example.com)\n\n# A\n\nText")).toBe("A");
    expect(await titleOf("---\ntitle: 'Ben''s \"A\"'\n---\n\n# B\n\nText")).toBe('Ben\'s "A"');
    expect([await titleOf(""), await titleOf("# \u200b\n\nText")]).toEqual([null, null]);
    expect(await titleOf(`${"\n".repeat(1999)}# A`)).toBe("A");
    expect(await titleOf(`${"\n".repeat(2001)}# A`)).toBeNull();
  });

  test("can be a file, which is read from its bytes", async () => {
    const { files, reader } = scripted({ title: " Leave\npolicy ", text: "Thirty days" });
    expect(await readContent(reader, { file: file("hr/leave.html", "<p>30") }, { orgId: "org-1" })).toEqual({
      text: "Thirty days",
      title: "Leave policy",
      fileName: "hr/leave.html",
      mediaType: "text/html",
      sizeBytes: 5,
    });
    expect(files).toEqual([{ name: "hr/leave.html", content: Buffer.from("<p>30") }]);
  });

  test.each([
    ["hr/leave_policy--new.v2.html", "Leave policy new.v2"],
    ["leave", "Leave"],
    ["hr/travel/README.md", "Travel"],
    [".html", null],
    ["folder/", null],
  ])("has the title of its name without a title in the file: %s", async (name, title) => {
    for (const read of [{ title: null }, { title: " " }])
      expect((await readContent(scripted(read).reader, { file: file(name) }, { orgId: "org-1" }))?.title).toBe(title);
  });

  test("is a file of at most 20 MiB in base64", async () => {
    const { reader } = scripted();
    const bytes = Buffer.alloc(20 * 1024 ** 2 + 1);
    expect(await readContent(reader, { file: file("a.md", bytes.subarray(1)) }, { orgId: "org-1" })).toMatchObject({
      sizeBytes: bytes.length - 1,
    });
    await expect(readContent(reader, { file: file("a.md", bytes) }, { orgId: "org-1" })).rejects.toEqual(
      invalid(/more than 20 MiB/),
    );
    for (const content of ["", "%"])
      await expect(readContent(reader, { file: { name: "a.md", content } }, { orgId: "org-1" })).rejects.toEqual(
        invalid(/in base64/),
      );
    await expect(readContent(reader, { file: file("") }, { orgId: "org-1" })).rejects.toEqual(invalid(/^file\.name: /));
  });

  test("is a text or a file, and not both", async () => {
    const { reader } = scripted();
    expect(await readContent(reader, {}, { orgId: "org-1" })).toBeUndefined();
    await expect(readContent(reader, { content: "", file: file("a.md") }, { orgId: "org-1" })).rejects.toEqual(
      invalid(/not both/),
    );
  });
});
