import { queryBuilderOf } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { inLockedTransaction } from "../shared/transaction.ts";
import { type ChangeMemoriesDeps, findMemoryScope, lockMemoryAgent, lockOfMemories } from "./memory-scope.ts";
import type { MemoryKind } from "./memory-rules.ts";
import { type MemoryView, toMemoryView } from "./memory-view.ts";
import { changeMemory, getMemoryRow } from "./stored-memories.ts";
import { findSameText, toMemoryText } from "./write-memory.ts";

export interface CorrectMemory {
  id: string;
  memory_id: string;
  content?: string | undefined;
  kind?: MemoryKind | undefined;
}

/**
 * Replaces the content or the kind of a memory.
 *
 * @param correction.id - the agent
 * @throws {ServiceError} `invalid` for a content that is not allowed, or without a change; `not_found` when the organization has no such
 *   agent, or the agent no such memory; `conflict` when another memory of the agent has the content
 */
export async function correctMemory(
  { em: root, db }: ChangeMemoriesDeps,
  caller: Caller,
  { id, memory_id: memoryId, content, kind }: CorrectMemory,
): Promise<MemoryView> {
  if (content === undefined && kind === undefined) throw new ServiceError("invalid", "Send content, kind or both.");
  const scope = await findMemoryScope(db, caller, id);
  return inLockedTransaction(root, [lockOfMemories(scope)], async (em) => {
    const tx = queryBuilderOf(em);
    await lockMemoryAgent(tx, scope);
    const row = await getMemoryRow(tx, scope, memoryId);
    const text = toMemoryText(content ?? row.content, kind ?? row.kind);
    const same = await findSameText(tx, scope, text);
    if (same !== undefined && same.id !== row.id)
      throw new ServiceError("conflict", `The memory ${same.id} of the agent has this content. Delete one of the two.`);
    await changeMemory(tx, scope, caller, { row, text });
    return toMemoryView(await getMemoryRow(tx, scope, row.id));
  });
}
