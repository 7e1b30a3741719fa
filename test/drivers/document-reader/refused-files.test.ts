import { readFile } from "node:fs/promises";
import path from "node:path";
import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { docxFile, wordParagraph } from "../../support/documents/docx-file.ts";
import { pdfFile, pdfWithContents } from "../../../bench/support/pdf-file.ts";
import { sharedReader } from "../../support/documents/test-reader.ts";
import { deflatedZeros, zipArchive } from "../../support/service/zip-archive.ts";

// On a busy machine, reading a long file until its limit takes longer than the time that the service allows.
const reader = sharedReader({ wallTimeMs: 100_000, memoryMb: 400 });

const sample = (name: string) => readFile(path.join(import.meta.dirname, "samples", name));

async function refusal(name: string, content: Uint8Array): Promise<string> {
  const error: unknown = await reader()
    .read({ name, content }, { orgId: "org-1" })
    .then(
      ({ text }) => new Error(`read: ${text.slice(0, 100)}`),
      (reason: unknown) => reason,
    );
  expect(error).toMatchObject({ code: "invalid" });
  return error instanceof Error ? error.message : "";
}

test.each([
  ["another type", "logo.svg", Buffer.from("text"), /has the type \.svg\. Accepted types: Markdown \(\.md\)/],
  ["a text with the name of a workbook", "sales.xlsx", Buffer.from("text"), /is not what its name says/],
  ["an executable without an ending", "tool", Buffer.from("\u007fELF\0\0\u0001\u0001\0\0"), /contains no text/],
  ["a text with the name of a PDF file", "a.pdf", Buffer.from("text"), /is not what its name says/],
  ["an old Word document", "a.doc", Buffer.from("d0cf11e0a1b11ae100", "hex"), /old Office document.*Save it as \.docx/],
  ["Rich Text Format", "a.rtf", Buffer.from(String.raw`{\rtf1 text}`), /Rich Text Format/],
  ["an archive that is not a document", "a.docx", zipArchive([{ name: "a.txt", content: "a" }]), /is an archive/],
  ["a damaged archive", "a.docx", Buffer.from("PK\u0003\u0004word/ and nothing else"), /damaged/],
  ["a damaged PDF file", "a.pdf", Buffer.from("%PDF-1.7\nnothing\n%%EOF"), /damaged/],
  ["a PDF file that ends early", "a.pdf", pdfFile([[{ text: "A", top: 9 }]]).subarray(0, 90), /damaged|no text/],
  ["an empty page", "a.html", Buffer.from("<html><body><script>1</script></body></html>"), /has no text/],
])("%s is refused with the reason", async (_, name, content, message) => {
  expect(await refusal(name, content)).toMatch(message);
});

test("an encrypted PDF file is refused", async () => {
  expect(await refusal("a.pdf", await sample("libreoffice-writer-password.pdf"))).toMatch(/protected by a password/);
});

test("a PDF file of images is refused, and the error names text recognition", async () => {
  expect(await refusal("scan.pdf", await sample("imagemagick-lzw.pdf"))).toMatch(/no text.*OCR/);
});

test("a PDF file that unpacks to gigabytes is refused", async () => {
  const content = Buffer.concat([Buffer.from([0x78, 0x9c]), deflatedZeros(2048)]);
  expect(await refusal("bomb.pdf", pdfWithContents([content]))).toMatch(/needs too much memory|takes too long/);
});

test("a PDF file with more text than allowed is refused", async () => {
  const lines = Array.from(
    { length: 700 },
    (_, n) => `BT /F1 1 Tf 1 0 0 1 72 ${800 - n} Tm (${"words ".repeat(100)}) Tj ET`,
  );
  const page = deflateSync(lines.join("\n"));
  expect(await refusal("long.pdf", pdfWithContents(Array.from({ length: 6 }, () => page)))).toMatch(/too much text/);
});

test("a PDF file with too many pages is refused", async () => {
  const pages = Array.from({ length: 501 }, (_, index) => [{ text: `Page ${index}`, top: 100 }]);
  expect(await refusal("pages.pdf", pdfFile(pages))).toMatch(/too many pages/);
});

test("a Word document that unpacks to gigabytes is refused", async () => {
  const extra = [{ name: "word/styles.xml", compressed: deflatedZeros(3000), declaredSize: 100 }];
  expect(await refusal("bomb.docx", docxFile(wordParagraph("text"), { extra }))).toMatch(/unpacks to too much data/);
});

test("a Word document with external entities is refused", async () => {
  const beginning = '<!DOCTYPE d [<!ENTITY host SYSTEM "file:///etc/passwd">]>';
  expect(await refusal("a.docx", docxFile(wordParagraph("a&host;b"), { beginning }))).toMatch(/damaged/);
});

test("a Word document whose entities multiply is refused", async () => {
  const levels = Array.from({ length: 12 }, (_, n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`).join("");
  const beginning = `<!DOCTYPE d [<!ENTITY e0 "lol">${levels}]>`;
  expect(await refusal("a.docx", docxFile(wordParagraph("a&e12;b"), { beginning }))).toMatch(/damaged/);
});

test("a Word document whose elements are nested very deeply is refused", async () => {
  const content = docxFile(`${"<w:sdt>".repeat(5000)}${"</w:sdt>".repeat(5000)}`);
  expect(await refusal("deep.docx", content)).toMatch(/nested too deeply/);
});

test("a picture of a Word document that is elsewhere is not read", async () => {
  expect(await refusal("a.docx", await sample("external-picture.docx"))).toMatch(/no text/);
});

test("a page with elements that are nested very deeply is refused", async () => {
  const content = Buffer.from(`${"<div>".repeat(100_000)}deep`);
  expect(await refusal("deep.html", content)).toMatch(/nested too deeply|takes too long/);
});

test("a page with more text than allowed is refused", async () => {
  expect(await refusal("long.html", Buffer.from(`<p>${"word ".repeat(500_000)}`))).toMatch(/too much text/);
});
