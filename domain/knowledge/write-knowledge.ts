import { deleteDocument } from "../documents/delete-document.ts";
import type { DocumentKind } from "../documents/document-kind.ts";
import type { DocumentSummary } from "../documents/document-view.ts";
import { readContent, type SentContent } from "../documents/read-content.ts";
import { getDocumentSummary } from "../documents/read-documents.ts";
import {
  changeDocument,
  type DocumentFields,
  restoreVersion,
  storeDocument,
  type WriteDocumentDeps,
  type WriteStatus,
  type WrittenDocument,
} from "../documents/write-document.ts";
import type { Db } from "../database-types.ts";
import type { DocumentReader } from "../ports/document-reader.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { knowledgeOf } from "./knowledge-owner.ts";

export interface WriteKnowledgeDeps extends WriteDocumentDeps {
  db: Db;
  documentReader: DocumentReader;
}

export interface AddKnowledge extends SentContent, DocumentFields {
  kind: DocumentKind;
}

export interface ChangeKnowledge extends SentContent, DocumentFields {
  id: string;
  kind?: DocumentKind | undefined;
}

/** A document after a change, without its text. */
export interface ChangedDocument extends DocumentSummary {
  /** `unchanged`: the document had the same text, title, kind and language before. */
  status: WriteStatus;
}

/**
 * Adds a document to Company Knowledge. A file with the name of an earlier upload becomes a new version of that document.
 *
 * @throws {ServiceError} `invalid` for a text or a file that is not allowed; `conflict` when the organization has too many
 *   documents; `unavailable` while too many files are being read
 */
export async function addKnowledge(
  deps: WriteKnowledgeDeps,
  caller: Caller,
  { content: text, file, ...fields }: AddKnowledge,
): Promise<ChangedDocument> {
  const content = await readContent(deps.documentReader, { content: text, file });
  if (content === undefined) throw new ServiceError("invalid", "Send either content or file.");
  const { userId } = caller;
  return summarize(deps, caller, await storeDocument(deps, knowledgeOf(caller), { userId, content, fields }));
}

/**
 * Changes a document of Company Knowledge. A new text becomes a new version.
 *
 * @throws {ServiceError} as `addKnowledge` does; `not_found` when the organization has no such document
 */
export async function changeKnowledge(
  deps: WriteKnowledgeDeps,
  caller: Caller,
  { id, content: text, file, ...fields }: ChangeKnowledge,
): Promise<ChangedDocument> {
  // Before the file is read, which takes a second.
  await getDocumentSummary(deps.db, knowledgeOf(caller), id);
  const content = await readContent(deps.documentReader, { content: text, file });
  const { userId } = caller;
  return summarize(deps, caller, await changeDocument(deps, knowledgeOf(caller), { id, userId, content, fields }));
}

/**
 * Makes the text of a kept version current again, as a new version.
 *
 * @throws {ServiceError} `not_found` when the organization has no such document, or the document no such version
 */
export async function restoreKnowledge(
  deps: WriteKnowledgeDeps,
  caller: Caller,
  { id, number }: { id: string; number: number },
): Promise<ChangedDocument> {
  const { userId } = caller;
  return summarize(deps, caller, await restoreVersion(deps, knowledgeOf(caller), { id, number, userId }));
}

/** @throws {ServiceError} `not_found` when the organization has no such document */
export function deleteKnowledge(deps: WriteKnowledgeDeps, caller: Caller, id: string): Promise<{ status: "deleted" }> {
  return deleteDocument(deps, knowledgeOf(caller), id);
}

async function summarize(
  { db }: WriteKnowledgeDeps,
  caller: Caller,
  { id, status }: WrittenDocument,
): Promise<ChangedDocument> {
  return { ...(await getDocumentSummary(db, knowledgeOf(caller), id)), status };
}
