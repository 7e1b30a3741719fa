import { zipArchive, type ZipEntry } from "../service/zip-archive.ts";

const WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const PACKAGE = "http://schemas.openxmlformats.org/package/2006";
const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

const TYPES = `<?xml version="1.0"?><Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`;
const RELATIONSHIPS = `<?xml version="1.0"?><Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>`;

/** A paragraph of a Word document. */
export function wordParagraph(text: string, style?: string): string {
  const properties = style === undefined ? "" : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`;
  return `<w:p>${properties}<w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;
}

/**
 * Creates a DOCX file (ECMA-376) with a body.
 *
 * @param beginning - between the XML declaration and the root element, such as a document type declaration
 */
export function docxFile(body: string, { beginning = "", extra = [] as ZipEntry[] } = {}): Buffer {
  const document = `<?xml version="1.0"?>${beginning}<w:document xmlns:w="${WORD}"><w:body>${body}</w:body></w:document>`;
  return zipArchive([
    { name: "[Content_Types].xml", content: TYPES },
    { name: "_rels/.rels", content: RELATIONSHIPS },
    { name: "word/document.xml", content: document },
    ...extra,
  ]);
}
