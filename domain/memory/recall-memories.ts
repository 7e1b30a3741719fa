import { fuseHits } from "../search/fuse-hits.ts";
import { searchByMeaning, type TextSearchDeps } from "../search/search-by-meaning.ts";
import type { IndexHit } from "../search/best-hits.ts";
import { searchIndex } from "../search/search-index.ts";
import type { ScopeKey } from "../search/search-scope.ts";
import type { Caller } from "../shared/caller.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import { RESPONSE_CHARACTERS, takeWithinBudget } from "../shared/response-budget.ts";
import { readSearchQuery } from "../shared/search-query.ts";
import { findMemoryScope } from "./memory-scope.ts";
import { MEMORY_KINDS, type MemoryKind } from "./memory-rules.ts";
import { type MemoryRow, type MemoryView, toMemoryView } from "./memory-view.ts";
import { selectMemories } from "./stored-memories.ts";

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

/** Shortens found memories for an agent. They end at the size limit of a response. */
export function shortenRecall(found: readonly FoundMemory[]): Recall {
  const memories = takeWithinBudget(found.map(toRecalled), MEMORIES_CHARACTERS);
  const missing = found.length - memories.length;
  const cut = missing === 0 ? null : `${missing} more memories match. Use more specific words, or a kind.`;
  return { memories, cut };
}

function toRecalled({
  memory_id,
  content,
  kind,
  created_at,
  updated_at,
  instruction_like,
  score,
}: FoundMemory): RecalledMemory {
  return { memory_id, content, kind, created_at, updated_at, ...(instruction_like && { instruction_like }), score };
}

export interface SearchMemories {
  /** The agent. */
  id: string;
  q: string;
  /** The maximum number of memories; 20 by default. */
  limit?: number | undefined;
  kind?: MemoryKind | undefined;
}

export type FoundMemory = MemoryView & { score: number };

export interface FoundMemories {
  memories: FoundMemory[];
}

/**
 * Returns the memories of an agent that match a query, the most relevant first, and of equally relevant ones the latest first.
 *
 * @throws {ServiceError} `invalid` for an empty or too long query; `not_found` when the organization has no such agent;
 *   `forbidden` for a gateway token of another agent
 */
export async function searchMemories(
  deps: TextSearchDeps,
  caller: Caller,
  { id, q, limit = 20, kind }: SearchMemories,
): Promise<FoundMemories> {
  const text = readSearchQuery("q", q);
  const scope = await findMemoryScope(deps.db, caller, id);
  const found = await findMemories(deps, scope, { text, limit, kind });
  return { memories: found.map(({ row, score }) => ({ ...toMemoryView(row), score })) };
}

interface RankedMemory {
  row: MemoryRow;
  indexId: number;
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
/** Similarities of vectors differ less than scores. */
const EQUAL_SIMILARITY_SHARE = 0.02;

async function findMemories(
  deps: TextSearchDeps,
  scope: ScopeKey,
  { text, limit, kind }: Search,
): Promise<RankedMemory[]> {
  const categories = kind === undefined ? undefined : [MEMORY_KINDS.indexOf(kind)];
  const query = { text, limit: CANDIDATES, ...(categories && { categories }) };
  const [byWords, byMeaning] = await Promise.all([
    searchIndex(deps.db, scope, { ...query, language: "english" }),
    searchByMeaning(deps, scope, query),
  ]);
  const ids = new Set([...byWords, ...byMeaning].map(({ indexId }) => indexId));
  if (ids.size === 0) return [];
  const rows = await selectMemories(deps.db, scope)
    .where("index_id", "in", [...ids])
    .execute();
  const rowOf = new Map(rows.map((row) => [row.index_id, row]));
  const similar = byMeaning.map(({ indexId, similarity }) => ({ indexId, score: similarity }));
  return fuseHits(
    rankLatestFirst(withRows(byWords, rowOf), EQUAL_SHARE),
    rankLatestFirst(withRows(similar, rowOf), EQUAL_SIMILARITY_SHARE),
  ).slice(0, limit);
}

function withRows(hits: readonly IndexHit[], rowOf: ReadonlyMap<number, MemoryRow>): RankedMemory[] {
  return hits.flatMap((hit) => {
    const row = rowOf.get(hit.indexId);
    return row === undefined ? [] : [{ ...hit, row }];
  });
}

function rankLatestFirst(found: readonly RankedMemory[], equalShare: number): RankedMemory[] {
  const step = equalShare * Math.max(...found.map(({ score }) => score)) || 1;
  const relevance = ({ score }: RankedMemory): number => Math.round(score / step);
  const latest = ({ row }: RankedMemory): string => toIsoTimestamp(row.updated_at);
  return found.toSorted((a, b) => relevance(b) - relevance(a) || (latest(a) < latest(b) ? 1 : -1));
}
