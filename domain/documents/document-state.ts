import type { EntityManager } from "@mikro-orm/core";
import type { SqlEntityManager } from "@mikro-orm/sql";
import { type Db, queryBuilderOf } from "../database-types.ts";
import type { TextWorkers } from "../ports/text-workers.ts";
import type { TextRemoval } from "../search/encode-texts.ts";
import { ServiceError } from "../shared/errors.ts";
import { isUuid } from "../shared/ids.ts";
import { type DocumentOwner, ownerExists, projectNotFound, type SourceRun } from "./document-owner.ts";
import { documentNotFound, documentOfSource } from "./document-rules.ts";
import { Document } from "./document.entity.ts";
import { DocumentVersion } from "./document-version.entity.ts";
import type { DocumentTasks } from "./index-document.ts";
import { readStoredPassages } from "./index-passages.ts";

/** What a change of a document needs before its transaction: texts are processed outside of it. */
export interface ChangeDocumentDeps {
  em: EntityManager;
  textWorkers: TextWorkers<DocumentTasks>;
}

/** The lock of changes of an organization's documents, so that each counts what the organization stores. */
export function lockOfDocuments({ orgId }: DocumentOwner): string {
  return `documents ${orgId}`;
}

/** The source has been deleted, or another job has begun to read it. */
export class SourceRunEnded extends Error {
  override readonly name = "SourceRunEnded";
}

/**
 * @throws {ServiceError} `not_found` for a project that has been deleted meanwhile
 * @throws {SourceRunEnded}
 */
export async function checkOwnerExists(em: SqlEntityManager, owner: DocumentOwner): Promise<void> {
  if (!(await ownerExists(queryBuilderOf(em), owner))) throw projectNotFound();
  if (owner.source !== undefined) await checkSourceRun(queryBuilderOf(em), owner.source);
}

/** In a transaction, the next reading begins only after its end. */
async function checkSourceRun(tx: Db, { id, run }: SourceRun): Promise<void> {
  const sources = tx.selectFrom("knowledge_sources").select("id").where("id", "=", id).where("run", "=", run);
  if ((await sources.forShare().executeTakeFirst()) === undefined) throw new SourceRunEnded();
}

/** @throws {ServiceError} `not_found`; `conflict` for a document of a source that a person wants to change */
export async function findDocument(
  em: SqlEntityManager,
  { orgId, projectId, source }: DocumentOwner,
  id: string,
): Promise<Document> {
  const document = isUuid(id) ? await em.findOne(Document, { id, orgId, projectId }) : null;
  if (document === null) throw documentNotFound();
  if ((document.sourceId ?? null) !== (source?.id ?? null)) throw documentOfSource();
  return document;
}

/** A document has been changed since its texts were processed. */
export class OutdatedDocument extends Error {
  override readonly name = "OutdatedDocument";
}

const ATTEMPTS = 5;

/** Repeats work that finds a document changed meanwhile. */
export async function retryOutdated<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++)
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof OutdatedDocument)) throw error;
      if (attempt === ATTEMPTS)
        throw new ServiceError("unavailable", "Other requests are changing this document. Try again in a few seconds.");
    }
}

/** A document with its current text. */
type DocumentState = Document & { text: string };

export async function readDocument(
  { em: root }: Pick<ChangeDocumentDeps, "em">,
  owner: DocumentOwner,
  id: string,
): Promise<DocumentState> {
  const em = forkOf({ em: root });
  await checkOwnerExists(em, owner);
  const document = await findDocument(em, owner, id);
  const version = await em.findOne(DocumentVersion, { documentId: id, number: document.version });
  if (version === null) throw new OutdatedDocument();
  return Object.assign(document, { text: version.content });
}

export async function planRemovalOf(
  { em, textWorkers }: ChangeDocumentDeps,
  owner: DocumentOwner,
  { id, title, kind, language }: Pick<Document, "id" | "title" | "kind" | "language">,
): Promise<TextRemoval> {
  const passages = await readStoredPassages(queryBuilderOf(forkOf({ em })), id);
  return textWorkers.run(owner.orgId, "planPassageRemoval", { document: { title, kind, language }, passages });
}

/** @throws {OutdatedDocument} when the document has other passages than when it was read */
export async function findUnchanged(
  em: SqlEntityManager,
  owner: DocumentOwner,
  before: Pick<Document, "id" | "version" | "title" | "kind" | "language">,
): Promise<Document> {
  const current = await findDocument(em, owner, before.id);
  const isUnchanged = (["version", "title", "kind", "language"] as const).every(
    (field) => current[field] === before[field],
  );
  if (!isUnchanged) throw new OutdatedDocument();
  return current;
}

export function forkOf({ em }: Pick<ChangeDocumentDeps, "em">): SqlEntityManager {
  return (em as SqlEntityManager).fork();
}
