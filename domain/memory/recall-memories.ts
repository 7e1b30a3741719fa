import type { Db } from "../database-types.ts";
import { searchIndex } from "../search/search-index.ts";
import type { ScopeKey } from "../search/search-scope.ts";
import type { Caller } from "../shared/caller.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import { RESPONSE_CHARACTERS, takeWithinBudget } from "../shared/response-budget.ts";
import { readSearchQuery } from "../shared/search-query.ts";
import { findMemoryOwner, type ReadMemoriesDeps } from "./memory-owner.ts";
import { MEMORY_KINDS, type MemoryKind } from "./memory-rules.ts";
import { type MemoryRow, type MemoryView, toMemoryView } from "./memory-view.ts";
import { selectMemories } from "./stored-memories.ts";

export interface RecallMemories {
  agent_id?: string | undefined;
  query: string;
  /** The maximum number of memories. */
  limit: number;
  kind?: MemoryKind | undefined;
}

export interface RecalledMemory {
  memory_id: string;
  content: string;
  kind: MemoryKind;
  created_at: string;
  updated_at: string;
  /** Only if it is true, because an agent reads every field. */
  instruction_like?: true;
  score: number;
}

export interface Recall {
  memories: RecalledMemory[];
  /** How many memories are missing, and how to narrow the search; `null` when none is. */
  cut: string | null;
}

/** What remains for the memories, because the note has to fit too. */
const MEMORIES_CHARACTERS = RESPONSE_CHARACTERS - 300;

/**
 * Returns the memories of an agent that match a query, the most relevant first, and of equally relevant ones the latest first. It
 * ends after `limit` memories, or earlier at the size limit of a response.
 *
 * @throws {ServiceError} `invalid` for an empty or too long query; `not_found` when the organization has no such agent;
 *   `forbidden` for a gateway token of another agent
 */
export async function recallMemories(
  { db }: ReadMemoriesDeps,
  caller: Caller,
  { agent_id: agentId, query, limit, kind }: RecallMemories,
): Promise<Recall> {
  const text = readSearchQuery("query", query);
  const owner = await findMemoryOwner(db, caller, agentId);
  const found = (await findMemories(db, owner, { text, limit, kind })).map(toRecalled);
  const memories = takeWithinBudget(found, MEMORIES_CHARACTERS);
  const missing = found.length - memories.length;
  const cut = missing === 0 ? null : `${missing} more memories match. Use more specific words, or a kind.`;
  return { memories, cut };
}

function toRecalled({ row, score }: FoundMemory): RecalledMemory {
  return {
    memory_id: row.id,
    content: row.content,
    kind: row.kind,
    created_at: toIsoTimestamp(row.created_at),
    updated_at: toIsoTimestamp(row.updated_at),
    ...(row.instruction_like && { instruction_like: true }),
    score,
  };
}

export interface SearchMemories {
  /** The agent. */
  id: string;
  q: string;
  /** The maximum number of memories; 20 by default. */
  limit?: number | undefined;
  kind?: MemoryKind | undefined;
}

/**
 * Searches the memories of an agent as `recallMemories` does, without the size limit.
 *
 * @throws {ServiceError} as `recallMemories`
 */
export async function searchMemories(
  { db }: ReadMemoriesDeps,
  caller: Caller,
  { id, q, limit = 20, kind }: SearchMemories,
): Promise<{ memories: (MemoryView & { score: number })[] }> {
  const text = readSearchQuery("q", q);
  const owner = await findMemoryOwner(db, caller, id);
  const found = await findMemories(db, owner, { text, limit, kind });
  return { memories: found.map(({ row, score }) => ({ ...toMemoryView(row), score })) };
}

interface FoundMemory {
  row: MemoryRow;
  score: number;
}

interface Search {
  text: string;
  limit: number;
  kind: MemoryKind | undefined;
}

/** Room for the order by time, which can change what the first `limit` memories are. */
const CANDIDATES = 100;
/** Scores that differ by less than this part of the best score count as equal. */
const EQUAL_SHARE = 0.1;

async function findMemories(db: Db, owner: ScopeKey, { text, limit, kind }: Search): Promise<FoundMemory[]> {
  const categories = kind === undefined ? undefined : [MEMORY_KINDS.indexOf(kind)];
  const hits = await searchIndex(db, owner, {
    text,
    language: "english",
    limit: CANDIDATES,
    ...(categories && { categories }),
  });
  if (hits.length === 0) return [];
  const scores = new Map(hits.map(({ indexId, score }) => [indexId, score]));
  const rows = await selectMemories(db, owner)
    .where("index_id", "in", [...scores.keys()])
    .execute();
  const found = rows.map((row) => ({ row, score: scores.get(row.index_id) ?? 0 }));
  const step = EQUAL_SHARE * Math.max(...found.map(({ score }) => score));
  const relevance = ({ score }: FoundMemory): number => Math.round(score / step);
  const latest = ({ row }: FoundMemory): string => toIsoTimestamp(row.updated_at);
  return found.toSorted((a, b) => relevance(b) - relevance(a) || (latest(a) < latest(b) ? 1 : -1)).slice(0, limit);
}
