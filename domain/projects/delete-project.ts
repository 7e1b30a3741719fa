import type { EntityManager } from "@mikro-orm/core";
import { removeProjectMounts } from "../agents/remove-project-mounts.ts";
import { queryBuilderOf } from "../database-types.ts";
import { deleteDocumentsOf } from "../documents/delete-document.ts";
import { checkOwnerExists, lockOfDocuments } from "../documents/document-state.ts";
import type { Caller } from "../shared/caller.ts";
import { inLockedTransaction } from "../shared/transaction.ts";
import { lockProject } from "./find-project.ts";

/**
 * Deletes a project with its documents, their search index and its mounts, in one transaction.
 *
 * @throws {ServiceError} `not_found` when the organization has no such project
 */
export async function deleteProject(
  { em: root }: { em: EntityManager },
  caller: Caller,
  id: string,
): Promise<{ status: "deleted" }> {
  const owner = { orgId: caller.orgId, projectId: id };
  // The lock of every change of a document. A change that waits finds no project any more.
  await inLockedTransaction(root, [lockOfDocuments(owner)], async (em) => {
    const tx = queryBuilderOf(em);
    await checkOwnerExists(em, owner);
    const { id: projectId } = await lockProject(tx, caller, id, "update");
    await removeProjectMounts(tx, "project_id", [projectId]);
    await deleteDocumentsOf(tx, { ...owner, projectId });
    await tx.deleteFrom("projects").where("id", "=", projectId).where("org_id", "=", caller.orgId).execute();
  });
  return { status: "deleted" };
}
