import type { DOCUMENT_TYPES } from "../../../../domain/ports/document-reader.ts";
import { OfficeArchive } from "./office-archive.ts";
import { type ReadLimits, RefusedFile } from "./report.ts";

type DocumentTypeName = keyof typeof DOCUMENT_TYPES;

/** The types of OpenDocument and EPUB, which the first file of the archive names. */
const TYPES: Readonly<Record<string, DocumentTypeName>> = {
  "application/vnd.oasis.opendocument.text": "odt",
  "application/vnd.oasis.opendocument.spreadsheet": "ods",
  "application/vnd.oasis.opendocument.presentation": "odp",
  "application/epub+zip": "epub",
};

/**
 * Reads a document that is a zip archive. What is in it decides on its type, whatever its name is.
 *
 * @throws {RefusedFile} `not-a-document` for any other archive
 */
export async function readArchive(
  content: Uint8Array,
  limits: ReadLimits,
): Promise<{ type: DocumentTypeName; title: string | null; text: string }> {
  const archive = await OfficeArchive.open(content);
  const type = await findType(archive);
  switch (type) {
    case "docx":
      return { type, ...(await (await import("./read-docx.ts")).readDocx(archive, limits)) };
    case "pptx":
      return { type, ...(await (await import("./read-pptx.ts")).readPptx(archive, limits)) };
    case "xlsx":
      return { type, ...(await (await import("./read-xlsx.ts")).readXlsx(archive, limits)) };
    case "epub":
      return { type, ...(await (await import("./read-epub.ts")).readEpub(archive, limits)) };
    case null:
      throw new RefusedFile("not-a-document");
    default:
      return { type, ...(await (await import("./read-odf.ts")).readOdf(archive, limits)) };
  }
}

async function findType(archive: OfficeArchive): Promise<DocumentTypeName | null> {
  const declared = (await archive.readText("mimetype"))?.trim().replace(/-template$/, "");
  if (declared !== undefined && Object.hasOwn(TYPES, declared)) return TYPES[declared] ?? null;
  const types = (await archive.readText("[Content_Types].xml")) ?? "";
  if (/wordprocessingml|ms-word/.test(types) || archive.has("word/document.xml")) return "docx";
  if (/presentationml|ms-powerpoint/.test(types)) return "pptx";
  return /spreadsheetml|ms-excel/.test(types) ? "xlsx" : null;
}
