import type { Caller } from "../shared/caller.ts";
import { takeWithinBudget } from "../shared/response-budget.ts";
import { decodeCursor, encodeCursor } from "../shared/keyset-cursor.ts";
import { findMemoryScope, type ReadMemoriesDeps } from "./memory-scope.ts";
import type { MemoryKind } from "./memory-rules.ts";
import { type MemoryView, toMemoryView } from "./memory-view.ts";
import { getMemoryRow, selectMemories } from "./stored-memories.ts";

export interface ListMemories {
  /** The agent. */
  id: string;
  kind?: MemoryKind | undefined;
  /** The maximum number of memories; 50 by default. */
  limit?: number | undefined;
  /** The `next_cursor` of an earlier page; without it, the first page is returned. */
  cursor?: string | undefined;
}

export interface MemoryPage {
  memories: MemoryView[];
  /** The cursor of the next page; `null` on the last page. */
  next_cursor: string | null;
}

/**
 * Lists the memories of an agent, the latest created first.
 *
 * @throws {ServiceError} `not_found` when the organization has no such agent; `invalid` for a cursor that this service did
 *   not return
 */
export async function listMemories(
  { db }: ReadMemoriesDeps,
  caller: Caller,
  { id, kind, limit = 50, cursor }: ListMemories,
): Promise<MemoryPage> {
  const after = cursor === undefined ? null : decodeCursor(cursor);
  const scope = await findMemoryScope(db, caller, id);
  const rows = await selectMemories(db, scope)
    .$if(kind !== undefined, (query) => query.where("kind", "=", kind as MemoryKind))
    .$if(after !== null, (query) =>
      query.where(({ eb, refTuple, tuple }) =>
        eb(refTuple("created_at", "id"), "<", tuple(after?.createdAt as never, after?.id as never)),
      ),
    )
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit + 1)
    .execute();
  const memories = rows.slice(0, limit).map(toMemoryView);
  return toPage(memories, rows.length > limit);
}

function toPage(memories: MemoryView[], hasMore: boolean): MemoryPage {
  const last = memories.at(-1);
  if (!hasMore || last === undefined) return { memories, next_cursor: null };
  return { memories, next_cursor: encodeCursor({ created_at: last.created_at, id: last.memory_id }) };
}

/** Of an export, in characters of JSON. */
const EXPORT_CHARACTERS = 4_000_000;
const MEMORIES_OF_EXPORT = 2000;

/**
 * Returns all memories of an agent, the latest created first, in pages of at most 2,000 memories and 4 MB.
 *
 * @throws {ServiceError} as `listMemories`
 */
export async function exportMemories(
  deps: ReadMemoriesDeps,
  caller: Caller,
  request: Pick<ListMemories, "id" | "cursor">,
): Promise<MemoryPage> {
  const page = await listMemories(deps, caller, { ...request, limit: MEMORIES_OF_EXPORT });
  const memories = takeWithinBudget(page.memories, EXPORT_CHARACTERS);
  return memories.length === page.memories.length ? page : toPage(memories, true);
}

/**
 * @throws {ServiceError} `not_found` when the organization has no such agent, or the agent no such memory
 */
export async function getMemory(
  { db }: ReadMemoriesDeps,
  caller: Caller,
  { id, memory_id: memoryId }: { id: string; memory_id: string },
): Promise<MemoryView> {
  return toMemoryView(await getMemoryRow(db, await findMemoryScope(db, caller, id), memoryId));
}
