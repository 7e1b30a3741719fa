import { defineEntity, p } from "@mikro-orm/core";
import type { Language } from "../search/languages.ts";

/** A part of the current version of a document, which the search finds as one text. */
export const DocumentPassageSchema = defineEntity({
  name: "DocumentPassage",
  tableName: "document_passages",
  properties: {
    documentId: p.uuid().primary(),
    /** From 0 on, in the order of the document. */
    ordinal: p.integer().primary(),
    orgId: p.uuid(),
    /** The project; for a document of Company Knowledge, the organization. */
    ownerId: p.uuid(),
    /** The headings above the passage, from the outermost one, separated by ` > `; empty if there is none. */
    heading: p.text(),
    /** The part of the document from `startOffset` until before `endOffset`, in UTF-16 code units. */
    content: p.text(),
    /** The language in which the passage is indexed; `null` until the passages of an earlier release are indexed again. */
    language: p.string().$type<Language>().nullable(),
    startOffset: p.integer(),
    endOffset: p.integer(),
    /** The id in the search index of the owner. */
    indexId: p.integer(),
  },
  uniques: [{ properties: ["ownerId", "indexId"] }],
});

export class DocumentPassage extends DocumentPassageSchema.class {}
DocumentPassageSchema.setClass(DocumentPassage);
