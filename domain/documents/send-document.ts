import type { Db } from "../database-types.ts";
import type { DocumentReader } from "../ports/document-reader.ts";
import { ServiceError } from "../shared/errors.ts";
import type { DocumentOwner } from "./document-owner.ts";
import type { DocumentSummary } from "./document-view.ts";
import { readContent, type SentContent } from "./read-content.ts";
import { getDocumentSummary } from "./read-documents.ts";
import {
  changeDocument,
  type DocumentFields,
  restoreVersion,
  storeDocument,
  type WriteDocumentDeps,
  type WriteStatus,
  type WrittenDocument,
} from "./write-document.ts";

export interface SendDocumentDeps extends WriteDocumentDeps {
  db: Db;
  documentReader: DocumentReader;
}

/** A document after a change, without its text. */
export interface ChangedDocument extends DocumentSummary {
  /** `unchanged`: the document had the same text, title, kind and language before. */
  status: WriteStatus;
}

/** Who sends a document, and what it belongs to. */
export interface DocumentSender {
  owner: DocumentOwner;
  /** `null` if no user is known. */
  userId: string | null;
}

export interface AddDocument extends SentContent, DocumentFields {}

/**
 * Adds a text or a file that a caller sends as a document. A file with the name of an earlier upload becomes a new version of
 * that document.
 *
 * @throws {ServiceError} `invalid` for a text or a file that is not allowed; `plan_limit` when the plan does not
 *   allow the document; `unavailable` while too many files are being read
 * @throws the reason of `signal` when it is aborted before the file is read
 */
export async function addDocument(
  deps: SendDocumentDeps,
  { owner, userId }: DocumentSender,
  { content: text, file, ...fields }: AddDocument,
  signal?: AbortSignal,
): Promise<ChangedDocument> {
  const content = await readContent(deps.documentReader, { content: text, file }, { orgId: owner.orgId, signal });
  if (content === undefined) throw new ServiceError("invalid", "Send either content or file.");
  return summarize(deps.db, owner, await storeDocument(deps, owner, { userId, content, fields }));
}

/**
 * Changes a document. A new text becomes a new version.
 *
 * @throws {ServiceError} as `addDocument` does; `not_found` when the owner has no such document
 */
export async function replaceDocument(
  deps: SendDocumentDeps,
  { owner, userId }: DocumentSender,
  { id, content: text, file, ...fields }: AddDocument & { id: string },
  signal?: AbortSignal,
): Promise<ChangedDocument> {
  // Before the file is read, which takes a second.
  await getDocumentSummary(deps.db, owner, id);
  const content = await readContent(deps.documentReader, { content: text, file }, { orgId: owner.orgId, signal });
  return summarize(deps.db, owner, await changeDocument(deps, owner, { id, userId, content, fields }));
}

/**
 * Makes the text of a kept version current again, as a new version.
 *
 * @throws {ServiceError} `not_found` when the owner has no such document, or the document no such version
 */
export async function restoreDocument(
  deps: SendDocumentDeps,
  { owner, userId }: DocumentSender,
  { id, number }: { id: string; number: number },
): Promise<ChangedDocument> {
  return summarize(deps.db, owner, await restoreVersion(deps, owner, { id, number, userId }));
}

/** Returns a document that was written, without its text. */
export async function summarize(
  db: Db,
  owner: DocumentOwner,
  { id, status }: WrittenDocument,
): Promise<ChangedDocument> {
  return { ...(await getDocumentSummary(db, owner, id)), status };
}
