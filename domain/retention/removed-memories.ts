import type { Db } from "../database-types.ts";
import { dropScope } from "../search/index-texts.ts";

/**
 * Removes all memories of agents, with their search index, in the transaction of `tx`. The agents must be locked or deleted,
 * so that nothing is added meanwhile.
 */
export async function removeMemories(tx: Db, orgId: string, agentIds: readonly string[]): Promise<void> {
  if (agentIds.length === 0) return;
  await tx.deleteFrom("memories").where("org_id", "=", orgId).where("agent_id", "in", agentIds).execute();
  for (const ownerId of agentIds) await dropScope(tx, { orgId, kind: "memory", ownerId });
}
