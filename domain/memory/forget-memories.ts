import type { SqlEntityManager } from "@mikro-orm/sql";
import { queryBuilderOf } from "../database-types.ts";
import { removeMemories } from "../retention/removed-memories.ts";
import type { Caller } from "../shared/caller.ts";
import { type ChangeMemoriesDeps, findMemoryScope, lockMemories } from "./memory-scope.ts";
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
  await (root as SqlEntityManager).fork().transactional(async (em) => {
    const tx = queryBuilderOf(em);
    await lockMemories(tx, scope);
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
  await (root as SqlEntityManager).fork().transactional(async (em) => {
    const tx = queryBuilderOf(em);
    await lockMemories(tx, scope);
    await removeMemories(tx, scope.orgId, [scope.ownerId]);
  });
  return { status: "deleted" };
}
