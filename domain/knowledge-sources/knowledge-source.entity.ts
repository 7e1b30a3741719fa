import { randomUUID } from "node:crypto";
import { defineEntity, p } from "@mikro-orm/core";
import type { DocumentKind } from "../documents/document-kind.ts";
import type { DocumentLanguage } from "../documents/passage-languages.ts";

/** `deleting`: the job removes the documents, and the source last. Callers do not see it any more. */
export const SOURCE_STATUSES = ["queued", "reading", "ready", "failed", "deleting"] as const;

export type SourceStatus = (typeof SOURCE_STATUSES)[number];

/** A file of a source that is not stored, with the reason. */
export interface SkippedFile {
  file: string;
  error: string;
}

/** A public URL or a folder of a repository whose documents Company Knowledge follows. */
export const KnowledgeSourceSchema = defineEntity({
  name: "KnowledgeSource",
  tableName: "knowledge_sources",
  properties: {
    id: p
      .uuid()
      .primary()
      .onCreate(() => randomUUID()),
    orgId: p.uuid(),
    /** Of all its documents. */
    kind: p.string().$type<DocumentKind>(),
    language: p.string().$type<DocumentLanguage>(),
    /** Set for a page or a file, and `null` for a repository. */
    url: p.text().nullable(),
    /** As owner/name; `null` for a URL. */
    repo: p.text().nullable(),
    /** The connected git host that has the repository; `null` for the service's own. */
    gitHost: p.text().nullable(),
    /** `null`: `main`, or the default branch of a repository without `main`. */
    branch: p.text().nullable(),
    /** The folder in the repository; an empty text for all of it. */
    path: p.text(),
    status: p.string().$type<SourceStatus>(),
    /** Raised when a job begins. A job with a lower number writes nothing more. */
    run: p.integer().default(0),
    /** The commit whose files are all stored; `null` when another reading of it could store more. */
    commit: p.string().nullable(),
    /** What the host of a URL said of the version that is stored, for conditional requests. */
    etag: p.text().nullable(),
    lastModified: p.text().nullable(),
    /** Why the last reading failed, in a sentence. */
    error: p.text().nullable(),
    /** The first of the files that are not stored. */
    skipped: p.json<SkippedFile[]>(),
    skippedCount: p.integer().default(0),
    /** How many files are hidden, or of types that are not read. */
    leftOut: p.integer().default(0),
    lastCheckedAt: p.datetime(3).nullable(),
    nextCheckAt: p.datetime(3),
    createdBy: p.uuid().nullable(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
  },
  indexes: [{ properties: ["orgId", "createdAt"] }, { properties: ["nextCheckAt"] }],
});

export class KnowledgeSource extends KnowledgeSourceSchema.class {}
KnowledgeSourceSchema.setClass(KnowledgeSource);
