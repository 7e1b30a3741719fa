import { getDocumentProxy } from "unpdf";
import { addFieldValues } from "./pdf-fields.ts";
import { joinLines } from "./join-lines.ts";
import { type PdfLine, readLines } from "./pdf-lines.ts";
import { type ReadLimits, realTitle, RefusedFile, TextCollector } from "./report.ts";

type PdfDocument = Awaited<ReturnType<typeof getDocumentProxy>>;

/**
 * Reads the text of a PDF file, and the values of its form. Larger letters are headings, and lines that stand on most pages are left out.
 *
 * @throws {RefusedFile} for a file that is damaged, encrypted, or beyond the limits
 */
export async function readPdf(
  content: Uint8Array,
  limits: ReadLimits,
): Promise<{ title: string | null; text: string }> {
  const document = await openPdf(content);
  if (document.numPages > limits.pages) throw new RefusedFile("too-many-pages");
  const pages: PdfLine[][] = [];
  let room = limits.characters;
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number);
    const text = readLines((await page.getTextContent()).items);
    const lines = addFieldValues(text, await page.getAnnotations().catch(() => []));
    room -= lines.reduce((sum, line) => sum + line.text.length, 0);
    if (room < 0) throw new RefusedFile("too-much-text");
    pages.push(lines);
    page.cleanup();
  }
  const { paragraphs, title } = joinLines(pages);
  const collector = new TextCollector(limits);
  for (const paragraph of paragraphs) collector.add(paragraph);
  return { title: (await readTitle(document)) ?? title, text: collector.finish() };
}

async function openPdf(content: Uint8Array): Promise<PdfDocument> {
  try {
    return await getDocumentProxy(new Uint8Array(content), {
      verbosity: 0,
      stopAtErrors: false,
    });
  } catch (error) {
    const isEncrypted = error instanceof Error && error.name === "PasswordException";
    throw new RefusedFile(isEncrypted ? "encrypted" : "damaged");
  }
}

async function readTitle(document: PdfDocument): Promise<string | null> {
  const { info } = await document.getMetadata().catch(() => ({ info: {} }));
  const title: unknown = "Title" in info ? info.Title : null;
  return typeof title === "string" ? realTitle(title) : null;
}
