import type { EntityManager } from "@mikro-orm/core";
import { type Db, queryBuilderOf } from "../database-types.ts";
import { dropScope } from "../search/index-texts.ts";
import { inLockedTransaction } from "../shared/transaction.ts";
import { type DocumentOwner, scopeOf, selectDocuments } from "./document-owner.ts";
import { Document } from "./document.entity.ts";
import { DocumentVersion } from "./document-version.entity.ts";
import { removePassages } from "./index-passages.ts";
import { checkOwnerExists, findDocument, lockOfDocuments } from "./write-document.ts";

/**
 * Deletes a document with its versions and its passages in the search index, in one transaction.
 *
 * @throws {ServiceError} `not_found` when the owner has no such document
 */
export async function deleteDocument(
  { em: root }: { em: EntityManager },
  owner: DocumentOwner,
  id: string,
): Promise<{ status: "deleted" }> {
  await inLockedTransaction(root, [lockOfDocuments(owner)], async (em) => {
    await checkOwnerExists(em, owner);
    const document = await findDocument(em, owner, id);
    await removePassages(queryBuilderOf(em), owner, document);
    await em.nativeDelete(DocumentVersion, { documentId: document.id });
    await em.nativeDelete(Document, { id: document.id });
  });
  return { status: "deleted" };
}

/** Deletes all documents of an owner with their part of the search index, in the transaction of `tx`. */
export async function deleteDocumentsOf(tx: Db, owner: DocumentOwner): Promise<void> {
  const ids = selectDocuments(tx, owner).select("document.id");
  await tx.deleteFrom("document_passages").where("document_id", "in", ids).execute();
  await tx.deleteFrom("document_versions").where("document_id", "in", ids).execute();
  await tx.deleteFrom("documents").where("id", "in", ids).execute();
  await dropScope(tx, scopeOf(owner));
}
