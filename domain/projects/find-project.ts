import type { Selectable } from "kysely";
import type { DatabaseTables, Db } from "../database-types.ts";
import { projectNotFound } from "../documents/document-owner.ts";
import type { Caller } from "../shared/caller.ts";

export type ProjectRow = Selectable<DatabaseTables["projects"]>;

/**
 * Finds a project of the organization. With a gateway token, an agent finds only the projects that are mounted on it.
 *
 * @throws {ServiceError} `not_found`
 */
export async function findProject(db: Db, caller: Caller, id: string): Promise<ProjectRow> {
  const { agentId } = caller;
  const row = await selectProject(db, caller, id)
    .$if(agentId !== undefined, (query) =>
      query.where(({ exists, selectFrom }) =>
        exists(
          selectFrom("project_mounts as mount")
            .select("mount.agent_id")
            .whereRef("mount.project_id", "=", "projects.id")
            .where("mount.agent_id", "=", agentId ?? ""),
        ),
      ),
    )
    .executeTakeFirst();
  if (row === undefined) throw projectNotFound();
  return row;
}

/**
 * Finds a project and makes changes of it wait until the transaction of `tx` ends: its deletion, and with `update` all others.
 *
 * @throws {ServiceError} `not_found` when the organization has no such project
 */
export async function lockProject(tx: Db, caller: Caller, id: string, mode: "update" | "share"): Promise<ProjectRow> {
  const query = selectProject(tx, caller, id);
  const row = await (mode === "update" ? query.forUpdate() : query.forShare()).executeTakeFirst();
  if (row === undefined) throw projectNotFound();
  return row;
}

function selectProject(db: Db, { orgId }: Caller, id: string) {
  return db.selectFrom("projects").selectAll().where("projects.id", "=", id).where("projects.org_id", "=", orgId);
}
