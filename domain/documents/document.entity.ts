import { randomUUID } from "node:crypto";
import { defineEntity, p } from "@mikro-orm/core";
import type { DocumentKind } from "./document-kind.ts";
import type { DocumentLanguage } from "./passage-languages.ts";

/** A document of the Company Knowledge of an organization, or of one of its projects. */
export const DocumentSchema = defineEntity({
  name: "Document",
  tableName: "documents",
  properties: {
    id: p
      .uuid()
      .primary()
      .onCreate(() => randomUUID()),
    orgId: p.uuid(),
    /** `null` for a document of Company Knowledge. */
    projectId: p.uuid().nullable(),
    /** `null` for a document of a project. */
    kind: p.string().$type<DocumentKind>().nullable(),
    title: p.text(),
    /** Stated by who wrote the document, such as `english`; `auto`: each passage has the language in which it is written. */
    language: p.string().$type<DocumentLanguage>(),
    /** The name of the file that was uploaded last, with its folders; `null` for a document that was written. */
    fileName: p.text().nullable(),
    /** The source from which the document is read; `null` for a document of people. */
    sourceId: p.uuid().nullable(),
    /** The SHA-256 of the file of the source, in hex. */
    sourceHash: p.string().nullable(),
    /** The number of the current version. */
    version: p.integer(),
    /** The texts of all kept versions in UTF-8. */
    storedBytes: p.integer(),
    /** The terms of the passages in the search index. */
    indexRows: p.integer().default(0),
    createdBy: p.uuid().nullable(),
    updatedBy: p.uuid().nullable(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
    updatedAt: p.datetime(3),
  },
  indexes: [
    { properties: ["orgId", "projectId", "title", "id"] },
    { properties: ["orgId", "projectId", "fileName"] },
    { properties: ["sourceId"] },
  ],
});

export class Document extends DocumentSchema.class {}
DocumentSchema.setClass(Document);
