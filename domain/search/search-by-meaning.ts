import type { Db } from "../database-types.ts";
import type { QueryEmbedder } from "./query-embedder.ts";
import type { ScopeKey } from "./search-scope.ts";
import { cosineOf, signsOf } from "./vectors.ts";

export interface TextSearchDeps {
  db: Db;
  /** `null` when no embeddings endpoint is configured: then texts are found by their words only. */
  queryEmbedder: QueryEmbedder | null;
}

export interface MeaningQuery {
  text: string;
  /** Finds only texts of these categories; without it, of all. */
  categories?: readonly number[] | undefined;
  limit: number;
}

export interface MeaningHit {
  indexId: number;
  /** The cosine of the angle between the vectors of the text and the query: 1 for the same direction. */
  similarity: number;
}

/** The vectors whose cosines are computed: those whose signs differ least from the signs of the query. Measured: decision 37. */
const CANDIDATES = 500;

/**
 * Searches a scope for texts with a meaning similar to that of a query. It reads rows of the scope only.
 *
 * @returns the most similar text first; empty without an endpoint, or when it does not respond in time
 */
export async function searchByMeaning(
  { db, queryEmbedder }: TextSearchDeps,
  scope: ScopeKey,
  { text, categories, limit }: MeaningQuery,
): Promise<MeaningHit[]> {
  if (queryEmbedder === null) return [];
  const scopeId = await findEmbeddedScope(db, scope, queryEmbedder.model);
  if (scopeId === null) return [];
  const [query] = (await queryEmbedder.embed(scope.orgId, [text])) ?? [];
  if (query === undefined) return [];
  const candidates = await readCandidates(db, { scopeId, query, categories });
  return candidates
    .map((row) => ({ indexId: row.index_id, similarity: cosineOf(query, row.vector) }))
    .filter(({ similarity }) => similarity >= queryEmbedder.minSimilarity)
    .toSorted((a, b) => b.similarity - a.similarity || a.indexId - b.indexId)
    .slice(0, limit);
}

/** Returns `null` for a scope without vectors of the model. */
async function findEmbeddedScope(db: Db, { orgId, kind, ownerId }: ScopeKey, model: string): Promise<number | null> {
  const row = await db
    .selectFrom("search_scopes")
    .select("id")
    .where("org_id", "=", orgId)
    .where("kind", "=", kind)
    .where("owner_id", "=", ownerId)
    .where("embedding_model", "=", model)
    .where("embedded_index_id", ">", 0)
    .executeTakeFirst();
  return row?.id ?? null;
}

interface CandidateQuery {
  scopeId: number;
  query: Float32Array;
  categories: readonly number[] | undefined;
}

function readCandidates(
  db: Db,
  { scopeId, query, categories }: CandidateQuery,
): Promise<{ index_id: number; vector: Uint8Array }[]> {
  return (
    db
      .selectFrom("search_vectors")
      .select(["index_id", "vector"])
      .where("scope_id", "=", scopeId)
      // The endpoint may have changed its dimensions. Signs of different lengths cannot be compared.
      .where(({ eb, fn, ref }) => eb(fn<number>("length", [ref("signs")]), "=", query.length))
      .$if(categories !== undefined, (rows) => rows.where("category", "in", categories ?? []))
      .orderBy(({ eb, fn, ref, val }) => fn<number>("bit_count", [eb(ref("signs"), "#", val(signsOf(query)))]))
      .limit(CANDIDATES)
      .execute()
  );
}
