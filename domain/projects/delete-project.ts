import type { EntityManager } from "@mikro-orm/core";
import type { SqlEntityManager } from "@mikro-orm/sql";
import { removeProjectMounts } from "../agents/remove-project-mounts.ts";
import { queryBuilderOf } from "../database-types.ts";
import { deleteDocumentsOf } from "../documents/delete-document.ts";
import { lockDocuments } from "../documents/write-document.ts";
import type { Caller } from "../shared/caller.ts";
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
  await (root as SqlEntityManager).fork().transactional(async (em) => {
    const tx = queryBuilderOf(em);
    const owner = { orgId: caller.orgId, projectId: id };
    // First, as every change of a document does. A change that waits finds no project any more.
    await lockDocuments(em, owner);
    const { id: projectId } = await lockProject(tx, caller, id, "update");
    await removeProjectMounts(tx, "project_id", [projectId]);
    await deleteDocumentsOf(tx, { ...owner, projectId });
    await tx.deleteFrom("projects").where("id", "=", projectId).where("org_id", "=", caller.orgId).execute();
  });
  return { status: "deleted" };
}
