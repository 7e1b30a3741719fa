import { deleteDocument } from "../documents/delete-document.ts";
import type { DocumentOwner } from "../documents/document-owner.ts";
import type { DocumentVersionView } from "../documents/document-view.ts";
import {
  type DocumentDetail,
  type DocumentPage,
  getDocument,
  listDocuments,
  listVersions,
} from "../documents/read-documents.ts";
import {
  addDocument,
  type AddDocument,
  type ChangedDocument,
  type DocumentSender,
  replaceDocument,
  restoreDocument,
  type SendDocumentDeps,
} from "../documents/send-document.ts";
import type { Db } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { findProject } from "./find-project.ts";
import type { ReadProjectsDeps } from "./list-projects.ts";

/** Of a part of a document. */
const MAX_CHARACTERS = 1024 * 1024;

/** A document of a project. `id` is the project. */
export interface ProjectDocument {
  id: string;
  document_id: string;
}

/** Lists the documents of a project by title. @throws {ServiceError} `not_found`; `invalid` for an invalid cursor */
export async function listProjectDocuments(
  { db }: ReadProjectsDeps,
  caller: Caller,
  { id, limit = 50, cursor }: { id: string; limit?: number | undefined; cursor?: string | undefined },
): Promise<DocumentPage> {
  return listDocuments(db, await findOwner(db, caller, id), { limit, cursor });
}

/** Returns a document of a project, in parts when it is longer than one MiB. @throws {ServiceError} `not_found` */
export async function getProjectDocument(
  { db }: ReadProjectsDeps,
  caller: Caller,
  {
    id,
    document_id: documentId,
    ...part
  }: ProjectDocument & { version?: number | undefined; offset?: number | undefined },
): Promise<DocumentDetail> {
  const owner = await findOwner(db, caller, id);
  return getDocument(db, owner, { id: documentId, ...part, maxCharacters: MAX_CHARACTERS });
}

/** Lists the kept versions of a document, the newest first. @throws {ServiceError} `not_found` */
export async function listProjectDocumentVersions(
  { db }: ReadProjectsDeps,
  caller: Caller,
  { id, document_id: documentId }: ProjectDocument,
): Promise<{ versions: DocumentVersionView[] }> {
  return listVersions(db, await findOwner(db, caller, id), documentId);
}

/** Adds a document to a project. @throws {ServiceError} as `addDocument`; `not_found` when the organization has no such project */
export async function addProjectDocument(
  deps: SendDocumentDeps,
  caller: Caller,
  { id, ...document }: AddDocument & { id: string },
  signal?: AbortSignal,
): Promise<ChangedDocument> {
  return addDocument(deps, await findSender(deps.db, caller, id), document, signal);
}

/** Changes a document of a project. @throws {ServiceError} as `replaceDocument` */
export async function changeProjectDocument(
  deps: SendDocumentDeps,
  caller: Caller,
  { id, document_id: documentId, ...change }: AddDocument & ProjectDocument,
  signal?: AbortSignal,
): Promise<ChangedDocument> {
  return replaceDocument(deps, await findSender(deps.db, caller, id), { id: documentId, ...change }, signal);
}

/** Makes the text of a kept version current again. @throws {ServiceError} as `restoreDocument` */
export async function restoreProjectDocument(
  deps: SendDocumentDeps,
  caller: Caller,
  { id, document_id: documentId, number }: ProjectDocument & { number: number },
): Promise<ChangedDocument> {
  return restoreDocument(deps, await findSender(deps.db, caller, id), { id: documentId, number });
}

/** Deletes a document of a project with its versions. @throws {ServiceError} `not_found` */
export async function deleteProjectDocument(
  deps: SendDocumentDeps,
  caller: Caller,
  { id, document_id: documentId }: ProjectDocument,
): Promise<{ status: "deleted" }> {
  return deleteDocument(deps, await findOwner(deps.db, caller, id), documentId);
}

async function findSender(db: Db, caller: Caller, projectId: string): Promise<DocumentSender> {
  return { owner: await findOwner(db, caller, projectId), userId: caller.userId };
}

async function findOwner(db: Db, caller: Caller, projectId: string): Promise<DocumentOwner> {
  const project = await findProject(db, caller, projectId);
  return { orgId: caller.orgId, projectId: project.id };
}
