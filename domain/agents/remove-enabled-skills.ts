import type { Db } from "../database-types.ts";

/**
 * Disables skills in the transaction of `tx`: all of some agents, or one for all agents. It locks rows in one order, so
 * that deletions of agents and skills at the same time do not block each other.
 */
export async function removeEnabledSkills(
  tx: Db,
  column: "agent_id" | "skill_id",
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await tx
    .selectFrom("enabled_skills")
    .select("agent_id")
    .where(column, "in", ids)
    .orderBy("agent_id")
    .orderBy("skill_id")
    .forUpdate()
    .execute();
  await tx.deleteFrom("enabled_skills").where(column, "in", ids).execute();
}
