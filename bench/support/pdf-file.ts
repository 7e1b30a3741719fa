import { deflateSync } from "node:zlib";

/** A line of a page: its text, the size of its letters, and its distance from the top, both in points. */
export interface PdfText {
  text: string;
  top: number;
  size?: number;
}

/**
 * Creates a PDF file (ISO 32000-1) with a page for each list of lines.
 *
 * @param title - in the information about the document
 */
export function pdfFile(pages: readonly (readonly PdfText[])[], title = ""): Buffer {
  return pdfWithContents(
    pages.map((lines) => deflateSync(lines.map(drawLine).join("\n"))),
    title,
  );
}

/** @param contents - the content of each page, compressed with deflate */
export function pdfWithContents(contents: readonly Buffer[], title = ""): Buffer {
  const pageNumbers = contents.map((_, index) => 4 + 2 * index);
  const objects: Buffer[] = [
    Buffer.from("<< /Type /Catalog /Pages 2 0 R >>"),
    Buffer.from(`<< /Type /Pages /Count ${contents.length} /Kids [${pageNumbers.map((n) => `${n} 0 R`).join(" ")}] >>`),
    Buffer.from("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"),
    ...contents.flatMap((content, index) => [
      Buffer.from(
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + 2 * index} 0 R >>`,
      ),
      Buffer.concat([
        Buffer.from(`<< /Filter /FlateDecode /Length ${content.length} >>\nstream\n`),
        content,
        Buffer.from("\nendstream"),
      ]),
    ]),
    Buffer.from(`<< /Title (${escapeText(title)}) >>`),
  ];
  return joinObjects(objects);
}

function drawLine({ text, top, size = 11 }: PdfText): string {
  return `BT /F1 ${size} Tf 1 0 0 1 72 ${842 - top} Tm (${escapeText(text)}) Tj ET`;
}

function escapeText(text: string): string {
  return text.replaceAll(/[\\()]/g, String.raw`\$&`);
}

function joinObjects(objects: readonly Buffer[]): Buffer {
  const parts = [Buffer.from("%PDF-1.4\n")];
  const offsets: number[] = [];
  let offset = parts[0]?.length ?? 0;
  for (const [index, object] of objects.entries()) {
    offsets.push(offset);
    const part = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), object, Buffer.from("\nendobj\n")]);
    parts.push(part);
    offset += part.length;
  }
  const entries = offsets.map((start) => `${String(start).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  parts.push(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${entries}trailer\n<< /Size ${size} /Root 1 0 R /Info ${objects.length} 0 R >>\nstartxref\n${offset}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}
