import { randomUUID } from "node:crypto";
import type { Db } from "../database-types.ts";
import { addToIndex, type IndexedText, removeFromIndex } from "../search/index-texts.ts";
import type { ScopeKey } from "../search/search-scope.ts";
import type { ReadTexts } from "../search/update-scopes.ts";
import type { Caller } from "../shared/caller.ts";
import { isUuid } from "../shared/ids.ts";
import type { TextHashes } from "./compare-text.ts";
import { MEMORY_KINDS, type MemoryKind, memoryNotFound } from "./memory-rules.ts";
import type { MemoryRow } from "./memory-view.ts";

/** What a write stores of a memory, beside its times. */
export interface MemoryText extends TextHashes {
  kind: MemoryKind;
  content: string;
  instructionLike: boolean;
}

/** @throws {ServiceError} `not_found` when the agent has no such memory */
export async function getMemoryRow(db: Db, scope: ScopeKey, id: string): Promise<MemoryRow> {
  // A malformed id gets the same response as an unknown one.
  const row = isUuid(id) ? await selectMemories(db, scope).where("id", "=", id).executeTakeFirst() : undefined;
  if (row === undefined) throw memoryNotFound();
  return row;
}

export function selectMemories(db: Db, { orgId, ownerId }: ScopeKey) {
  return db.selectFrom("memories").selectAll().where("org_id", "=", orgId).where("agent_id", "=", ownerId);
}

/** Adds a memory and its search entry. The scope must be locked. */
export async function addMemory(tx: Db, scope: ScopeKey, caller: Caller, text: MemoryText): Promise<string> {
  const id = randomUUID();
  const now = new Date();
  await tx
    .insertInto("memories")
    .values({
      id,
      org_id: scope.orgId,
      agent_id: scope.ownerId,
      index_id: await addText(tx, scope, text),
      ...toColumns(caller, text),
      created_at: now,
      updated_at: now,
    })
    .execute();
  return id;
}

/** Replaces the content and the kind of a memory, and its search entry. The scope must be locked. */
export async function changeMemory(
  tx: Db,
  scope: ScopeKey,
  caller: Caller,
  { row, text }: { row: MemoryRow; text: MemoryText },
): Promise<void> {
  await removeFromIndex(tx, scope, [toEntry(row)]);
  await tx
    .updateTable("memories")
    .set({ ...toColumns(caller, text), index_id: await addText(tx, scope, text), updated_at: new Date() })
    .where("id", "=", row.id)
    .where("org_id", "=", scope.orgId)
    .execute();
}

/** Removes a memory and its search entry. The scope must be locked. */
export async function removeMemory(tx: Db, scope: ScopeKey, row: MemoryRow): Promise<void> {
  await removeFromIndex(tx, scope, [toEntry(row)]);
  await tx.deleteFrom("memories").where("id", "=", row.id).where("org_id", "=", scope.orgId).execute();
}

/** Reads the memories of an agent as they are indexed. */
export const readMemoryTexts: ReadTexts = async (db, scope, { from, limit }) => {
  const rows = await selectMemories(db, scope).where("index_id", ">=", from).orderBy("index_id").limit(limit).execute();
  return rows.map(toEntry);
};

function toColumns({ userId, credential }: Caller, text: MemoryText) {
  return {
    kind: text.kind,
    content: text.content,
    content_hash: text.contentHash,
    meaning_hash: text.meaningHash,
    instruction_like: text.instructionLike,
    user_id: userId,
    credential_kind: credential.kind,
    credential_id: credential.id,
  };
}

async function addText(tx: Db, scope: ScopeKey, { content, kind }: MemoryText): Promise<number> {
  const [indexId] = await addToIndex(tx, scope, [toIndexedText(content, kind)]);
  if (indexId === undefined) throw new Error("the search index has assigned no id");
  return indexId;
}

function toEntry({ index_id: indexId, content, kind }: MemoryRow) {
  return { ...toIndexedText(content, kind), indexId };
}

function toIndexedText(content: string, kind: MemoryKind): IndexedText {
  return { title: "", body: content, category: MEMORY_KINDS.indexOf(kind), language: "english" };
}
