import { type Db, queryBuilderOf } from "../database-types.ts";
import type { ScopeKey } from "../search/search-scope.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { inLockedTransaction } from "../shared/transaction.ts";
import { hashText } from "./compare-text.ts";
import { isInstructionLike } from "./instruction-like.ts";
import { type ChangeMemoriesDeps, findMemoryScope, lockMemoryAgent, lockOfMemories } from "./memory-scope.ts";
import { checkMemoryContent, MEMORY_LIMITS, type MemoryKind } from "./memory-rules.ts";
import type { MemoryRow } from "./memory-view.ts";
import {
  addMemory,
  changeMemory,
  getMemoryRow,
  type MemoryText,
  removeMemory,
  selectMemories,
} from "./stored-memories.ts";

export interface WriteMemory {
  agent_id?: string | undefined;
  content: string;
  kind: MemoryKind;
  /** The memory whose content is no longer correct. It gets the new content. */
  replaces?: string | undefined;
}

export const WRITE_STATUSES = ["created", "updated", "duplicate"] as const;

export interface WrittenMemory {
  /** The memory that has the content. */
  memory_id: string;
  /** `duplicate`: the agent had this content already, so nothing was stored. */
  status: (typeof WRITE_STATUSES)[number];
}

/**
 * Stores a memory of an agent. A content that the agent has already, in the same or in slightly other words, is not stored
 * twice (docs/memory.md, Duplicates). Simultaneous calls wait for each other.
 *
 * @throws {ServiceError} `invalid` for a content that is not allowed; `not_found` when the organization has no such agent, or
 *   the agent no memory `replaces`; `forbidden` for a gateway token of another agent; `conflict` when the agent has too many
 *   memories
 */
export async function writeMemory(
  { em: root, db }: ChangeMemoriesDeps,
  caller: Caller,
  { agent_id: agentId, content, kind, replaces }: WriteMemory,
): Promise<WrittenMemory> {
  const text = toMemoryText(content, kind);
  const scope = await findMemoryScope(db, caller, agentId);
  return inLockedTransaction(root, [lockOfMemories(scope)], async (em) => {
    const tx = queryBuilderOf(em);
    await lockMemoryAgent(tx, scope);
    const replaced = replaces === undefined ? undefined : await getMemoryRow(tx, scope, replaces);
    const same = await findSameText(tx, scope, text);
    if (same !== undefined) {
      if (replaced !== undefined && replaced.id !== same.id) await removeMemory(tx, scope, replaced);
      if (same.kind === kind) return { memory_id: same.id, status: "duplicate" };
    }
    const row = same ?? replaced ?? (await findSameMeaning(tx, scope, text));
    if (row === undefined) return { memory_id: await addChecked(tx, scope, caller, text), status: "created" };
    await changeMemory(tx, scope, caller, { row, text });
    return { memory_id: row.id, status: "updated" };
  });
}

/** @throws {ServiceError} `invalid` for a content that is not allowed */
export function toMemoryText(content: string, kind: MemoryKind): MemoryText {
  const stored = checkMemoryContent(content);
  return { kind, content: stored, instructionLike: isInstructionLike(stored), ...hashText(stored) };
}

export function findSameText(tx: Db, scope: ScopeKey, { contentHash }: MemoryText): Promise<MemoryRow | undefined> {
  return selectMemories(tx, scope).where("content_hash", "=", contentHash).executeTakeFirst();
}

function findSameMeaning(tx: Db, scope: ScopeKey, { kind, meaningHash }: MemoryText): Promise<MemoryRow | undefined> {
  return selectMemories(tx, scope)
    .where("kind", "=", kind)
    .where("meaning_hash", "=", meaningHash)
    .orderBy("created_at")
    .limit(1)
    .executeTakeFirst();
}

async function addChecked(tx: Db, scope: ScopeKey, caller: Caller, text: MemoryText): Promise<string> {
  const { memoriesPerAgent } = MEMORY_LIMITS;
  const { count } = await tx
    .selectFrom("memories")
    .select(({ fn }) => fn.countAll<string>().as("count"))
    .where("agent_id", "=", scope.ownerId)
    .executeTakeFirstOrThrow();
  if (Number(count) < memoriesPerAgent) return addMemory(tx, scope, caller, text);
  throw new ServiceError(
    "conflict",
    `An agent can have at most ${memoriesPerAgent} memories. Pass replaces to change one, or ask a user to delete memories.`,
  );
}
