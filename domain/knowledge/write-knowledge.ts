import { deleteDocument } from "../documents/delete-document.ts";
import type { DocumentKind } from "../documents/document-kind.ts";
import {
  addDocument,
  type AddDocument,
  type ChangedDocument,
  replaceDocument,
  restoreDocument,
  type SendDocumentDeps,
} from "../documents/send-document.ts";
import { addArchive, type AddArchive, type AddedArchive } from "../documents/send-archive.ts";
import type { Caller } from "../shared/caller.ts";
import { knowledgeOf } from "./company-knowledge.ts";

export interface AddKnowledge extends AddDocument {
  kind: DocumentKind;
}

export interface ChangeKnowledge extends AddDocument {
  id: string;
  kind?: DocumentKind | undefined;
}

/** Adds a document to Company Knowledge. @throws {ServiceError} as `addDocument` */
export function addKnowledge(
  deps: SendDocumentDeps,
  caller: Caller,
  document: AddKnowledge,
  signal?: AbortSignal,
): Promise<ChangedDocument> {
  return addDocument(deps, { owner: knowledgeOf(caller), userId: caller.userId }, document, signal);
}

export interface AddKnowledgeArchive extends AddArchive {
  kind: DocumentKind;
}

/** Adds the documents in a zip archive to Company Knowledge. @throws {ServiceError} as `addArchive` */
export function addKnowledgeArchive(
  deps: SendDocumentDeps,
  caller: Caller,
  archive: AddKnowledgeArchive,
  signal?: AbortSignal,
): Promise<AddedArchive> {
  return addArchive(deps, { owner: knowledgeOf(caller), userId: caller.userId }, archive, signal);
}

/** Changes a document of Company Knowledge. @throws {ServiceError} as `replaceDocument` */
export function changeKnowledge(
  deps: SendDocumentDeps,
  caller: Caller,
  change: ChangeKnowledge,
  signal?: AbortSignal,
): Promise<ChangedDocument> {
  return replaceDocument(deps, { owner: knowledgeOf(caller), userId: caller.userId }, change, signal);
}

/** Makes the text of a kept version current again. @throws {ServiceError} as `restoreDocument` */
export function restoreKnowledge(
  deps: SendDocumentDeps,
  caller: Caller,
  version: { id: string; number: number },
): Promise<ChangedDocument> {
  return restoreDocument(deps, { owner: knowledgeOf(caller), userId: caller.userId }, version);
}

/** @throws {ServiceError} `not_found` when the organization has no such document */
export function deleteKnowledge(deps: SendDocumentDeps, caller: Caller, id: string): Promise<{ status: "deleted" }> {
  return deleteDocument(deps, knowledgeOf(caller), id);
}
