import type { SqlEntityManager } from "@mikro-orm/sql";
import { type Db, queryBuilderOf } from "../database-types.ts";
import type { Plans } from "../plans/plans.ts";
import type { DocumentType } from "../ports/document-reader.ts";
import type { DocumentLanguage } from "./passage-languages.ts";
import { ServiceError } from "../shared/errors.ts";
import { sha256Hex } from "../shared/sha256.ts";
import { inLockedTransaction } from "../shared/transaction.ts";
import type { DocumentKind } from "./document-kind.ts";
import { type DocumentOwner, selectDocuments } from "./document-owner.ts";
import { DOCUMENT_LIMITS } from "./document-limits.ts";
import { checkRoomForDocument, checkRoomForText, countedBytes, readDocumentQuota } from "./document-quota.ts";
import { checkTitle, cleanContent } from "./document-rules.ts";
import { Document } from "./document.entity.ts";
import { DocumentVersion } from "./document-version.entity.ts";
import type { IndexedPassages } from "./index-document.ts";
import {
  type ChangeDocumentDeps,
  checkOwnerExists,
  findDocument,
  findUnchanged,
  forkOf,
  lockOfDocuments,
  OutdatedDocument,
  planRemovalOf,
  readDocument,
  retryOutdated,
} from "./document-state.ts";
import { addPassages, removePassages } from "./index-passages.ts";

export interface WriteDocumentDeps extends ChangeDocumentDeps {
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
  /** The SHA-256 of the file of a source, in hex. */
  sourceHash?: string;
}

/** What people decide about a document. A field that is absent stays as it is, or gets its default. */
export interface DocumentFields {
  title?: string | undefined;
  kind?: DocumentKind | null | undefined;
  /** Default: `auto`. */
  language?: DocumentLanguage | undefined;
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
 *   allow the document; `unavailable` while too many texts are being processed
 */
export function storeDocument(
  deps: WriteDocumentDeps,
  owner: DocumentOwner,
  { userId, content, fields }: { userId: string | null; content: DocumentContent; fields: DocumentFields },
): Promise<WrittenDocument> {
  return retryOutdated(async () => {
    const { fileName } = content;
    const existing =
      fileName === null ? undefined : await selectByFileName(queryBuilderOf(forkOf(deps)), owner, fileName);
    if (existing === undefined) return createOnce(deps, owner, { userId, content, fields });
    return changeOnce(deps, owner, { id: existing.id, userId, content, fields });
  });
}

async function createOnce(
  { em: root, plans, textWorkers }: WriteDocumentDeps,
  owner: DocumentOwner,
  { userId, content, fields }: { userId: string | null; content: DocumentContent; fields: DocumentFields },
): Promise<WrittenDocument> {
  const { fileName } = content;
  const { kind = null, language = "auto" } = fields;
  const title = fields.title ?? content.title ?? "Untitled";
  checkTitle(title);
  const text = cleanContent(content.text);
  const indexed = await textWorkers.run(owner.orgId, "indexDocument", {
    document: { title, kind, language },
    content: text,
  });
  return inLockedTransaction(root, [lockOfDocuments(owner)], async (em) => {
    await checkOwnerExists(em, owner);
    const tx = queryBuilderOf(em);
    if (fileName !== null && (await selectByFileName(tx, owner, fileName)) !== undefined) throw new OutdatedDocument();
    const now = new Date();
    const author = { createdBy: userId, updatedBy: userId, createdAt: now, updatedAt: now };
    const document = em.create(Document, {
      ...{ orgId: owner.orgId, projectId: owner.projectId, kind, title, language, fileName },
      ...{ sourceId: owner.source?.id ?? null, sourceHash: content.sourceHash ?? null },
      ...{ version: 0, storedBytes: 0, indexRows: 0, ...author },
    });
    const quota = await readDocumentQuota(tx, plans, owner.orgId);
    checkRoomForDocument(quota);
    await addVersion(em, document, { userId, content, text, restored: null });
    setIndexRows(document, indexed);
    checkRoomForText(quota, countedBytes(document));
    await em.flush();
    await addPassages(tx, owner, document.id, indexed);
    return { id: document.id, status: "created" };
  });
}

export interface DocumentChange {
  id: string;
  userId: string | null;
  content?: DocumentContent | undefined;
  fields: DocumentFields;
  /** The number of the version that `content` restores. */
  restored?: number | null;
}

/**
 * Changes a document and its passages in one transaction. A text that is not the current one becomes a new version.
 *
 * @throws {ServiceError} `invalid` for a title or a text that is not allowed; `not_found` when the owner has no such
 *   document; `plan_limit` when the plan does not allow the text
 */
export function changeDocument(
  deps: WriteDocumentDeps,
  owner: DocumentOwner,
  change: DocumentChange,
): Promise<WrittenDocument> {
  return retryOutdated(() => changeOnce(deps, owner, change));
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

function selectByFileName(tx: Db, owner: DocumentOwner, fileName: string): Promise<{ id: string } | undefined> {
  return selectDocuments(tx, owner)
    .select("document.id")
    .where("document.file_name", "=", fileName)
    .where("document.source_id", "is not distinct from", owner.source?.id ?? null)
    .orderBy("document.created_at")
    .limit(1)
    .executeTakeFirst();
}

/** The texts are processed before the transaction, which then finds the document as it was read, or fails. */
async function changeOnce(
  deps: WriteDocumentDeps,
  owner: DocumentOwner,
  { id, userId, content, fields, restored = null }: DocumentChange,
): Promise<WrittenDocument> {
  const before = await readDocument(deps, owner, id);
  const { title = before.title, kind = before.kind ?? null, language = before.language } = fields;
  if (title !== before.title) checkTitle(title);
  const text = content === undefined ? before.text : cleanContent(content.text);
  const hasNewText = text !== before.text;
  const isMoved = title !== before.title || kind !== (before.kind ?? null) || language !== before.language;
  const sourceHash = content?.sourceHash ?? before.sourceHash ?? null;
  if (!hasNewText && !isMoved) {
    if (sourceHash !== (before.sourceHash ?? null)) await setSourceHash(deps, owner, id, sourceHash);
    return { id, status: "unchanged" };
  }
  const removal = await planRemovalOf(deps, owner, before);
  const document = { title, kind, language };
  const indexed = await deps.textWorkers.run(owner.orgId, "indexDocument", { document, content: text });
  return inLockedTransaction(deps.em, [lockOfDocuments(owner)], async (em) => {
    await checkOwnerExists(em, owner);
    const current = await findUnchanged(em, owner, before);
    const tx = queryBuilderOf(em);
    const quota = await readDocumentQuota(tx, deps.plans, owner.orgId);
    const bytesBefore = countedBytes(current);
    await removePassages(tx, owner, id, removal);
    em.assign(current, { ...document, sourceHash, updatedBy: userId, updatedAt: new Date() });
    if (hasNewText && content !== undefined) await addVersion(em, current, { userId, content, text, restored });
    setIndexRows(current, indexed);
    await em.flush();
    if (hasNewText) checkRoomForText(quota, countedBytes(current) - bytesBefore);
    await addPassages(tx, owner, id, indexed);
    return { id, status: "updated" };
  });
}

/** The file of a source has changed, but not its text. */
function setSourceHash(
  { em: root }: Pick<WriteDocumentDeps, "em">,
  owner: DocumentOwner,
  id: string,
  sourceHash: string | null,
): Promise<void> {
  return inLockedTransaction(root, [lockOfDocuments(owner)], async (em) => {
    await checkOwnerExists(em, owner);
    await em.nativeUpdate(Document, { id }, { sourceHash });
  });
}

function setIndexRows(document: Document, { texts }: IndexedPassages): void {
  document.indexRows = texts.chunks.reduce((sum, { ends }) => sum + ends.length, 0);
  if (document.indexRows <= DOCUMENT_LIMITS.differentWords) return;
  throw new ServiceError(
    "invalid",
    `content: the document has more than ${DOCUMENT_LIMITS.differentWords} different words. Split it into several documents.`,
  );
}

interface NewVersion {
  userId: string | null;
  content: DocumentContent;
  /** The content as it is stored. */
  text: string;
  restored: number | null;
}

/** Adds a version, makes it the current one, and removes versions that are too old. */
async function addVersion(
  em: SqlEntityManager,
  document: Document,
  { userId, content, text, restored }: NewVersion,
): Promise<void> {
  const contentBytes = Buffer.byteLength(text);
  const number = document.version + 1;
  document.version = number;
  if (content.fileName !== null) document.fileName = content.fileName;
  await em.flush();
  const { fileName, mediaType, sizeBytes } = content;
  const tx = queryBuilderOf(em);
  // A parameter of a statement. MikroORM would write the text into the statement, which takes 100 ms of the thread for 2 MiB.
  await tx
    .insertInto("document_versions")
    .values({
      ...{ document_id: document.id, number, content: text, restored, content_hash: sha256Hex(text) },
      ...{ content_bytes: contentBytes, file_name: fileName, media_type: mediaType, size_bytes: sizeBytes },
      ...{ created_by: userId, created_at: new Date() },
    })
    .execute();
  const removed = await tx
    .deleteFrom("document_versions")
    .where("document_id", "=", document.id)
    .where("number", "<=", number - DOCUMENT_LIMITS.versions)
    .returning("content_bytes")
    .execute();
  document.storedBytes += contentBytes - removed.reduce((sum, row) => sum + row.content_bytes, 0);
  await em.flush();
}
