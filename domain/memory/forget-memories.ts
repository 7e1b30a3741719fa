import { queryBuilderOf } from "../database-types.ts";
import { removeMemories } from "../retention/removed-memories.ts";
import type { Caller } from "../shared/caller.ts";
import { inLockedTransaction } from "../shared/transaction.ts";
import { type ChangeMemoriesDeps, findMemoryScope, lockMemoryAgent, lockOfMemories } from "./memory-scope.ts";
import { getMemoryRow, removeMemory } from "./stored-memories.ts";

/**
 * Deletes a memory of an agent.
 *
 * @param memory.id - the agent
 * @throws {ServiceError} `not_found` when the organization has no such agent, or the agent no such memory
 */
export async function forgetMemory(
  { em: root, db }: ChangeMemoriesDeps,
  caller: Caller,
  { id, memory_id: memoryId }: { id: string; memory_id: string },
): Promise<{ status: "deleted" }> {
  const scope = await findMemoryScope(db, caller, id);
  await inLockedTransaction(root, [lockOfMemories(scope)], async (em) => {
    const tx = queryBuilderOf(em);
    await lockMemoryAgent(tx, scope);
    await removeMemory(tx, scope, await getMemoryRow(tx, scope, memoryId));
  });
  return { status: "deleted" };
}

/**
 * Deletes all memories of an agent.
 *
 * @throws {ServiceError} `not_found` when the organization has no such agent
 */
export async function forgetAllMemories(
  { em: root, db }: ChangeMemoriesDeps,
  caller: Caller,
  agentId: string,
): Promise<{ status: "deleted" }> {
  const scope = await findMemoryScope(db, caller, agentId);
  await inLockedTransaction(root, [lockOfMemories(scope)], async (em) => {
    const tx = queryBuilderOf(em);
    await lockMemoryAgent(tx, scope);
    await removeMemories(tx, scope.orgId, [scope.ownerId]);
  });
  return { status: "deleted" };
}
