import { type Db, queryBuilderOf } from "../database-types.ts";
import { dropScope } from "../search/index-texts.ts";
import { inLockedTransaction } from "../shared/transaction.ts";
import { type DocumentOwner, scopeOf, selectDocuments } from "./document-owner.ts";
import {
  type ChangeDocumentDeps,
  checkOwnerExists,
  findDocument,
  findUnchanged,
  forkOf,
  lockOfDocuments,
  planRemovalOf,
  retryOutdated,
} from "./document-state.ts";
import { Document } from "./document.entity.ts";
import { DocumentVersion } from "./document-version.entity.ts";
import { removePassages } from "./index-passages.ts";

/**
 * Deletes a document with its versions and passages.
 *
 * @throws {ServiceError} `not_found` when the owner has no such document
 */
export function deleteDocument(
  deps: ChangeDocumentDeps,
  owner: DocumentOwner,
  id: string,
): Promise<{ status: "deleted" }> {
  return retryOutdated(async () => {
    const outside = forkOf(deps);
    await checkOwnerExists(outside, owner);
    const before = await findDocument(outside, owner, id);
    const removal = await planRemovalOf(deps, owner, before);
    await inLockedTransaction(deps.em, [lockOfDocuments(owner)], async (em) => {
      await checkOwnerExists(em, owner);
      const document = await findUnchanged(em, owner, before);
      await removePassages(queryBuilderOf(em), owner, document.id, removal);
      await em.nativeDelete(DocumentVersion, { documentId: document.id });
      await em.nativeDelete(Document, { id: document.id });
    });
    return { status: "deleted" };
  });
}

/** Deletes all documents of an owner with their part of the search index, in the transaction of `tx`. */
export async function deleteDocumentsOf(tx: Db, owner: DocumentOwner): Promise<void> {
  const ids = selectDocuments(tx, owner).select("document.id");
  await tx.deleteFrom("document_passages").where("document_id", "in", ids).execute();
  await tx.deleteFrom("document_versions").where("document_id", "in", ids).execute();
  await tx.deleteFrom("documents").where("id", "in", ids).execute();
  await dropScope(tx, scopeOf(owner));
}
