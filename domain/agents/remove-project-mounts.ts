import type { Db } from "../database-types.ts";

/**
 * Unmounts projects in the transaction of `tx`: all of some agents, or one from all agents. It locks rows in one order, so that
 * deletions of agents and projects at the same time do not block each other.
 */
export async function removeProjectMounts(
  tx: Db,
  column: "agent_id" | "project_id",
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await tx
    .selectFrom("project_mounts")
    .select("agent_id")
    .where(column, "in", ids)
    .orderBy("agent_id")
    .orderBy("project_id")
    .forUpdate()
    .execute();
  await tx.deleteFrom("project_mounts").where(column, "in", ids).execute();
}
