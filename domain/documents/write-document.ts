import type { EntityManager } from "@mikro-orm/core";
import type { SqlEntityManager } from "@mikro-orm/sql";
import { type Db, queryBuilderOf } from "../database-types.ts";
import type { Plans } from "../plans/plans.ts";
import type { DocumentType } from "../ports/document-reader.ts";
import type { Language } from "../search/languages.ts";
import { ServiceError } from "../shared/errors.ts";
import { isUuid } from "../shared/ids.ts";
import { sha256Hex } from "../shared/sha256.ts";
import { inLockedTransaction } from "../shared/transaction.ts";
import type { DocumentKind } from "./document-kind.ts";
import { type DocumentOwner, ownerExists, projectNotFound, selectDocuments } from "./document-owner.ts";
import { DOCUMENT_LIMITS } from "./document-limits.ts";
import { checkRoomForDocument, checkRoomForText, readDocumentQuota } from "./document-quota.ts";
import { checkTitle, cleanContent, documentNotFound } from "./document-rules.ts";
import { Document } from "./document.entity.ts";
import { DocumentVersion } from "./document-version.entity.ts";
import { addPassages, removePassages } from "./index-passages.ts";

export interface WriteDocumentDeps {
  em: EntityManager;
  plans: Plans;
}

/** The text of a document, from a file or written. */
export interface DocumentContent {
  text: string;
  /** What the document calls itself; `null` when it says nothing. */
  title: string | null;
  /** `null` for a text that was written. */
  fileName: string | null;
  mediaType: DocumentType;
  /** Of the uploaded file, or of the written text. */
  sizeBytes: number;
}

/** What people decide about a document. A field that is absent stays as it is, or gets its default. */
export interface DocumentFields {
  title?: string | undefined;
  kind?: DocumentKind | null | undefined;
  /** Default: english. */
  language?: Language | undefined;
}

/** `unchanged`: the document had the same text, title, kind and language before. */
export type WriteStatus = "created" | "updated" | "unchanged";

export interface WrittenDocument {
  id: string;
  status: WriteStatus;
}

/**
 * Stores a document with its passages in the search index, in one transaction. A file with the name of an earlier upload
 * to the same owner becomes a new version of that document, so that a folder can be uploaded again.
 *
 * @param userId - who writes it; `null` if no user is known
 * @throws {ServiceError} `invalid` for a title or a text that is not allowed; `plan_limit` when the plan does not
 *   allow the document
 */
export async function storeDocument(
  { em: root, plans }: WriteDocumentDeps,
  owner: DocumentOwner,
  { userId, content, fields }: { userId: string | null; content: DocumentContent; fields: DocumentFields },
): Promise<WrittenDocument> {
  return inLockedTransaction(root, [lockOfDocuments(owner)], async (em) => {
    await checkOwnerExists(em, owner);
    const { fileName } = content;
    const existing = fileName === null ? undefined : await selectByFileName(queryBuilderOf(em), owner, fileName);
    if (existing !== undefined) return changeLocked({ em, plans }, owner, { id: existing.id, userId, content, fields });
    const { kind = null, language = "english" } = fields;
    const title = fields.title ?? content.title ?? "Untitled";
    checkTitle(title);
    const now = new Date();
    const author = { createdBy: userId, updatedBy: userId, createdAt: now, updatedAt: now };
    const document = em.create(Document, {
      ...{ orgId: owner.orgId, projectId: owner.projectId, kind, title, language, fileName },
      ...{ version: 0, storedBytes: 0, ...author },
    });
    const quota = await readDocumentQuota(queryBuilderOf(em), plans, owner.orgId);
    checkRoomForDocument(quota);
    const text = await addVersion(em, document, { userId, content, restored: null });
    checkRoomForText(quota, document.storedBytes);
    await addPassages(queryBuilderOf(em), owner, document, text);
    return { id: document.id, status: "created" };
  });
}

export interface DocumentChange {
  id: string;
  userId: string | null;
  content?: DocumentContent | undefined;
  fields: DocumentFields;
  /** The number of the version that `content` restores. */
  restored?: number;
}

/**
 * Changes a document and its passages in one transaction. A text that is not the current one becomes a new version.
 *
 * @throws {ServiceError} `invalid` for a title or a text that is not allowed; `not_found` when the owner has no such
 *   document; `plan_limit` when the plan does not allow the text
 */
export async function changeDocument(
  { em: root, plans }: WriteDocumentDeps,
  owner: DocumentOwner,
  change: DocumentChange,
): Promise<WrittenDocument> {
  return inLockedTransaction(root, [lockOfDocuments(owner)], async (em) => {
    await checkOwnerExists(em, owner);
    return changeLocked({ em, plans }, owner, change);
  });
}

/**
 * Makes the text of a kept version current again, as a new version.
 *
 * @throws {ServiceError} `not_found` when the owner has no such document, or the document no such version; `plan_limit`
 *   when the plan does not allow the text
 */
export async function restoreVersion(
  deps: WriteDocumentDeps,
  owner: DocumentOwner,
  { id, number, userId }: { id: string; number: number; userId: string | null },
): Promise<WrittenDocument> {
  const em = (deps.em as SqlEntityManager).fork();
  const document = await findDocument(em, owner, id);
  const version = await em.findOne(DocumentVersion, { documentId: document.id, number });
  if (version === null) throw versionNotFound();
  const { content: text, fileName, mediaType, sizeBytes } = version;
  const content = { text, title: null, fileName: fileName ?? null, mediaType, sizeBytes };
  return changeDocument(deps, owner, { id, userId, content, fields: {}, restored: number });
}

export function versionNotFound(): ServiceError {
  return new ServiceError(
    "not_found",
    `Version not found. The newest ${DOCUMENT_LIMITS.versions} versions of a document are kept.`,
  );
}

/** The lock of changes of an organization's documents, so that each counts what the organization stores. */
export function lockOfDocuments({ orgId }: DocumentOwner): string {
  return `documents ${orgId}`;
}

/** @throws {ServiceError} `not_found` for a project that has been deleted meanwhile */
export async function checkOwnerExists(em: SqlEntityManager, owner: DocumentOwner): Promise<void> {
  if (!(await ownerExists(queryBuilderOf(em), owner))) throw projectNotFound();
}

/** @throws {ServiceError} `not_found` */
export async function findDocument(
  em: SqlEntityManager,
  { orgId, projectId }: DocumentOwner,
  id: string,
): Promise<Document> {
  const document = isUuid(id) ? await em.findOne(Document, { id, orgId, projectId }) : null;
  if (document === null) throw documentNotFound();
  return document;
}

function selectByFileName(tx: Db, owner: DocumentOwner, fileName: string): Promise<{ id: string } | undefined> {
  return selectDocuments(tx, owner)
    .select("document.id")
    .where("document.file_name", "=", fileName)
    .orderBy("document.created_at")
    .limit(1)
    .executeTakeFirst();
}

async function changeLocked(
  { em, plans }: { em: SqlEntityManager; plans: Plans },
  owner: DocumentOwner,
  { id, userId, content, fields, restored }: DocumentChange,
): Promise<WrittenDocument> {
  const document = await findDocument(em, owner, id);
  const before = { id, title: document.title, kind: document.kind, language: document.language };
  const { title = before.title, kind = before.kind, language = before.language } = fields;
  if (title !== before.title) checkTitle(title);
  const current = await em.findOneOrFail(DocumentVersion, { documentId: id, number: document.version });
  const hasNewText = content !== undefined && sha256Hex(cleanContent(content.text)) !== current.contentHash;
  const hasNewFields = title !== before.title || kind !== before.kind || language !== before.language;
  if (!hasNewText && !hasNewFields) return { id, status: "unchanged" };
  const tx = queryBuilderOf(em);
  const quota = hasNewText ? await readDocumentQuota(tx, plans, owner.orgId) : null;
  const bytesBefore = document.storedBytes;
  await removePassages(tx, owner, before);
  em.assign(document, { title, kind, language, updatedBy: userId, updatedAt: new Date() });
  const text = hasNewText
    ? await addVersion(em, document, { userId, content, restored: restored ?? null })
    : current.content;
  await em.flush();
  if (quota !== null) checkRoomForText(quota, document.storedBytes - bytesBefore);
  await addPassages(tx, owner, document, text);
  return { id, status: "updated" };
}

interface NewVersion {
  userId: string | null;
  content: DocumentContent;
  restored: number | null;
}

/**
 * Adds a version, makes it the current one, and removes versions that are too old.
 *
 * @returns the text of the version
 */
async function addVersion(
  em: SqlEntityManager,
  document: Document,
  { userId, content, restored }: NewVersion,
): Promise<string> {
  const text = cleanContent(content.text);
  const contentBytes = Buffer.byteLength(text);
  const number = document.version + 1;
  document.version = number;
  if (content.fileName !== null) document.fileName = content.fileName;
  await em.flush();
  const { fileName, mediaType, sizeBytes } = content;
  const source = { fileName, mediaType, sizeBytes, createdBy: userId, createdAt: new Date() };
  const hashes = { contentHash: sha256Hex(text), contentBytes };
  await em.insert(DocumentVersion, { documentId: document.id, number, content: text, restored, ...hashes, ...source });
  const removed = await queryBuilderOf(em)
    .deleteFrom("document_versions")
    .where("document_id", "=", document.id)
    .where("number", "<=", number - DOCUMENT_LIMITS.versions)
    .returning("content_bytes")
    .execute();
  document.storedBytes += contentBytes - removed.reduce((sum, row) => sum + row.content_bytes, 0);
  await em.flush();
  return text;
}
