import { defineEntity, p } from "@mikro-orm/core";
import type { DocumentType } from "../ports/document-reader.ts";

/** A version of a document. Versions are never changed. The oldest are removed (`DOCUMENT_LIMITS.versions`). */
export const DocumentVersionSchema = defineEntity({
  name: "DocumentVersion",
  tableName: "document_versions",
  properties: {
    documentId: p.uuid().primary(),
    /** From 1 on, without gaps. */
    number: p.integer().primary(),
    /** The text as Markdown. */
    content: p.text(),
    /** The SHA-256 of the content in UTF-8, in hex. */
    contentHash: p.string(),
    /** Of the content in UTF-8. */
    contentBytes: p.integer(),
    /** The number of the version whose content this one restored. */
    restored: p.integer().nullable(),
    /** The name of the uploaded file; `null` for a text that was written. */
    fileName: p.text().nullable(),
    mediaType: p.string().$type<DocumentType>(),
    /** Of the uploaded file, or of the written text. */
    sizeBytes: p.integer(),
    createdBy: p.uuid().nullable(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
  },
});

export class DocumentVersion extends DocumentVersionSchema.class {}
DocumentVersionSchema.setClass(DocumentVersion);
