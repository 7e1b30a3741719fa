import { DOCUMENT_TYPES, type DocumentFile, type DocumentType } from "../../../domain/ports/document-reader.ts";
import { ServiceError } from "../../../domain/shared/errors.ts";

const ACCEPTED =
  "Markdown (.md), text (.txt), HTML (.html), PDF (.pdf), Word (.docx), PowerPoint (.pptx), Excel (.xlsx), CSV (.csv), OpenDocument (.odt, .ods, .odp) and EPUB (.epub)";

/** The types by the ends of file names. */
const EXTENSIONS: Readonly<Record<string, DocumentType>> = {
  md: DOCUMENT_TYPES.markdown,
  markdown: DOCUMENT_TYPES.markdown,
  mdx: DOCUMENT_TYPES.markdown,
  txt: DOCUMENT_TYPES.text,
  text: DOCUMENT_TYPES.text,
  html: DOCUMENT_TYPES.html,
  htm: DOCUMENT_TYPES.html,
  xhtml: DOCUMENT_TYPES.html,
  pdf: DOCUMENT_TYPES.pdf,
  docx: DOCUMENT_TYPES.docx,
  pptx: DOCUMENT_TYPES.pptx,
  xlsx: DOCUMENT_TYPES.xlsx,
  csv: DOCUMENT_TYPES.csv,
  tsv: DOCUMENT_TYPES.csv,
  odt: DOCUMENT_TYPES.odt,
  ods: DOCUMENT_TYPES.ods,
  odp: DOCUMENT_TYPES.odp,
  epub: DOCUMENT_TYPES.epub,
};

/** The types whose files are text. */
const TEXTS: ReadonlySet<DocumentType> = new Set([
  DOCUMENT_TYPES.markdown,
  DOCUMENT_TYPES.text,
  DOCUMENT_TYPES.html,
  DOCUMENT_TYPES.csv,
]);

/** A PDF file may begin with other bytes (ISO 32000-1, annex H.3.4.1). */
const PDF_HEADER_BYTES = 1024;
const ZIP = Buffer.from("PK\u0003\u0004");
/** The Compound File Binary format of Office 97, and of newer files with a password. */
const COMPOUND_FILE = Buffer.from("d0cf11e0a1b11ae1", "hex");
const RTF = Buffer.from(String.raw`{\rtf`);

/**
 * Finds the type of a file. The content decides between PDF, an archive and text; the name decides what kind of text it is. What is in an
 * archive says which type of Office, OpenDocument or EPUB it is.
 *
 * @throws {ServiceError} `invalid` for any other type
 */
export function detectType({ name, content }: DocumentFile): DocumentType | "archive" {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  if (bytes.subarray(0, PDF_HEADER_BYTES).includes("%PDF-")) return DOCUMENT_TYPES.pdf;
  if (startsWith(bytes, ZIP)) return "archive";
  if (startsWith(bytes, COMPOUND_FILE))
    throw unsupported(
      "is an old Office document (.doc, .xls, .ppt), or protected by a password. Save it as .docx, .xlsx or .pptx without password",
    );
  if (startsWith(bytes, RTF)) throw unsupported("is in Rich Text Format. Save it as .docx");
  const extension = /\.([^./\\]+)$/.exec(name)?.[1]?.toLowerCase();
  if (extension === undefined) return DOCUMENT_TYPES.text;
  const type = Object.hasOwn(EXTENSIONS, extension) ? EXTENSIONS[extension] : undefined;
  if (type === undefined) throw unsupported(`has the type .${extension.slice(0, 20)}`);
  if (!TEXTS.has(type)) throw unsupported("is not what its name says");
  return type;
}

function startsWith(bytes: Buffer, beginning: Buffer): boolean {
  return bytes.subarray(0, beginning.length).equals(beginning);
}

/** @param problem - in words that follow "the file" */
export function unsupported(problem: string): ServiceError {
  return new ServiceError("invalid", `file: the file ${problem}. Accepted types: ${ACCEPTED}.`);
}
