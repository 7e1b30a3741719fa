import type { Db } from "../database-types.ts";
import { loadAnalyzer } from "../search/analyzer.ts";
import type { IndexHit } from "../search/best-hits.ts";
import { fuseHits } from "../search/fuse-hits.ts";
import type { RankingParameters } from "../search/ranking.ts";
import { searchByMeaning, type TextSearchDeps } from "../search/search-by-meaning.ts";
import { searchIndex } from "../search/search-index.ts";
import type { ScopeKey } from "../search/search-scope.ts";
import type { Caller } from "../shared/caller.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import { RESPONSE_CHARACTERS, takeWithinBudget } from "../shared/response-budget.ts";
import { readSearchQuery } from "../shared/search-query.ts";
import { findMemoryScope } from "./memory-scope.ts";
import { MEMORY_KINDS, type MemoryKind } from "./memory-rules.ts";
import { type MemoryRow, type MemoryView, toMemoryView } from "./memory-view.ts";
import { LABEL_CHARACTERS, neighboursOf, type RankableMemory, rankLatestFirst, rankMemories } from "./rank-memories.ts";
import { isShort, type Period, readPeriod } from "./read-period.ts";
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
 * Turns of a conversation beside a match, and memories of the days that the query names, are found too (docs/memory.md, Recall).
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

interface Search {
  text: string;
  limit: number;
  kind: MemoryKind | undefined;
}

/** Room for the ranking, which can change what the first `limit` memories are. */
const CANDIDATES = 100;
/** Turns of conversations are short: their length says less than that of documents. */
const RANKING: RankingParameters = { k1: 0.9, b: 0.4, titleWeight: 1 };
/** Similarities of vectors differ less than scores. */
const EQUAL_SIMILARITY_SHARE = 0.02;

async function findMemories(
  deps: TextSearchDeps,
  scope: ScopeKey,
  { text, limit, kind }: Search,
): Promise<{ row: MemoryRow; score: number }[]> {
  const categories = kind === undefined ? undefined : [MEMORY_KINDS.indexOf(kind)];
  const query = { text, limit: CANDIDATES, ...(categories && { categories }) };
  const [byWords, byMeaning] = await Promise.all([
    searchIndex(deps.db, scope, { ...query, language: "english", ranking: RANKING }),
    searchByMeaning(deps, scope, query),
  ]);
  const period = readPeriod(text, new Date());
  const indexIds = new Set([...byWords.map(({ indexId }) => indexId), ...neighboursOf(byWords)]);
  for (const { indexId } of byMeaning) indexIds.add(indexId);
  const memories = await selectCandidates(deps.db, scope, { indexIds: [...indexIds], period, kind });
  const analyzer = await loadAnalyzer("english");
  const words = new Set(analyzer.analyze(text).map((term) => term.text));
  const byId = new Map(memories.map((memory) => [memory.indexId, memory]));
  const similar = byMeaning.flatMap(({ indexId, similarity }) => {
    const memory = byId.get(indexId);
    return memory === undefined ? [] : [{ ...memory, score: similarity }];
  });
  const ranked = rankMemories(byWords, memories, { words, period, analyzer }).slice(0, CANDIDATES);
  const found = fuseHits<IndexHit>(ranked, rankLatestFirst(similar, EQUAL_SIMILARITY_SHARE)).slice(0, limit);
  return readRows(deps.db, scope, found);
}

interface CandidateQuery {
  indexIds: readonly number[];
  period: Period | undefined;
  kind: MemoryKind | undefined;
}

/** Selects memories by their index ids, and the latest ones of a period of some days. */
async function selectCandidates(
  db: Db,
  { orgId, ownerId }: ScopeKey,
  { indexIds, period, kind }: CandidateQuery,
): Promise<RankableMemory[]> {
  const memories = db
    .selectFrom("memories")
    .select(["index_id", "created_at", "updated_at"])
    .select(({ fn, val }) => fn<string>("left", ["content", val(LABEL_CHARACTERS)]).as("beginning"))
    .where("org_id", "=", orgId)
    .where("agent_id", "=", ownerId)
    .where(({ eb, lit }) => (kind === undefined ? lit(true) : eb("kind", "=", kind)));
  const [near, ofPeriod] = await Promise.all([
    indexIds.length === 0 ? [] : memories.where("index_id", "in", indexIds).execute(),
    period === undefined || !isShort(period)
      ? []
      : memories
          .where("created_at", ">=", period.from)
          .where("created_at", "<", period.to)
          .orderBy("created_at", "desc")
          .limit(CANDIDATES)
          .execute(),
  ]);
  const byId = new Map([...near, ...ofPeriod].map((row) => [row.index_id, row]));
  return [...byId.values()].map((row) => ({
    indexId: row.index_id,
    beginning: row.beginning,
    createdAt: new Date(toIsoTimestamp(row.created_at)),
    updatedAt: new Date(toIsoTimestamp(row.updated_at)),
  }));
}

async function readRows(db: Db, scope: ScopeKey, found: readonly IndexHit[]) {
  if (found.length === 0) return [];
  const ids = found.map(({ indexId }) => indexId);
  const rows = await selectMemories(db, scope).where("index_id", "in", ids).execute();
  const rowOf = new Map(rows.map((row) => [row.index_id, row]));
  return found.flatMap(({ indexId, score }) => {
    const row = rowOf.get(indexId);
    return row === undefined ? [] : [{ row, score }];
  });
}
