import { randomUUID } from "node:crypto";
import { defineEntity, p } from "@mikro-orm/core";
import type { Language } from "../search/languages.ts";
import type { DocumentKind } from "./document-kind.ts";

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
    /** How the search finds the words of the text, such as `english`. */
    language: p.string().$type<Language>(),
    /** The name of the file that was uploaded last, with its folders; `null` for a document that was written. */
    fileName: p.text().nullable(),
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
  indexes: [{ properties: ["orgId", "projectId", "title", "id"] }, { properties: ["orgId", "projectId", "fileName"] }],
});

export class Document extends DocumentSchema.class {}
DocumentSchema.setClass(Document);
