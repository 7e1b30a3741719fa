import type { Db } from "../database-types.ts";
import { type Embeddings, TextsRejected } from "../ports/embeddings.ts";
import type { ScopeKey, SearchScopeKind } from "./search-scope.ts";
import type { ReadTexts, TextReaders } from "./update-scopes.ts";
import { encodeVector, signsOf } from "./vectors.ts";

export interface EmbedScopesDeps {
  db: Db;
  embeddings: Embeddings;
  readers: TextReaders;
  /** Logs a text that the endpoint does not accept, also when it is shortened. */
  reportRejected(text: { kind: SearchScopeKind; indexId: number }): void;
}

/** Texts per request and transaction. */
const BATCH = 32;
/** Scopes per round. Each gets one batch in a round, so that a large one does not delay the others. */
const SCOPES = 500;
const TIME_LIMIT_MS = 30_000;
/** About what the models with the shortest inputs accept. */
const SHORTENED_CHARACTERS = 1000;

/**
 * Embeds the texts that have no vector of the current model, the oldest first. Progress is stored after each batch, so the next
 * call continues what a crash or a failure has left.
 *
 * @returns how many texts have been embedded
 * @throws when the endpoint does not respond, or rejects every request
 */
export async function embedScopes(deps: EmbedScopesDeps, signal: AbortSignal): Promise<number> {
  let count = 0;
  for (;;) {
    const scopes = await findPending(deps);
    if (scopes.length === 0) return count;
    for (const scope of scopes) {
      if (signal.aborted) return count;
      count += await embedBatch(deps, scope, signal);
    }
  }
}

interface PendingScope extends ScopeKey {
  id: number;
  model: string | null;
  /** The first index id that has not been embedded. */
  from: number;
  nextIndexId: number;
}

function findPending({ db, embeddings, readers }: EmbedScopesDeps): Promise<PendingScope[]> {
  return db
    .selectFrom("search_scopes")
    .select(["id", "org_id as orgId", "kind", "owner_id as ownerId"])
    .select(["embedding_model as model", "embedded_index_id as from", "next_index_id as nextIndexId"])
    .where("kind", "in", Object.keys(readers) as SearchScopeKind[])
    .where(({ eb, ref, or }) =>
      or([
        eb("embedding_model", "is distinct from", embeddings.model),
        eb("embedded_index_id", "<", ref("next_index_id")),
      ]),
    )
    .orderBy("id")
    .limit(SCOPES)
    .execute();
}

/** Embeds the next texts of a scope. The vectors and the progress are stored in one transaction. */
async function embedBatch(deps: EmbedScopesDeps, scope: PendingScope, signal: AbortSignal): Promise<number> {
  const { db, embeddings, readers } = deps;
  const readTexts = readers[scope.kind];
  if (readTexts === undefined) return 0;
  if (scope.model !== embeddings.model) return await startScope(db, scope, embeddings.model);
  const texts = await readTexts(db, scope, { from: scope.from, limit: BATCH });
  const vectors = texts.length === 0 ? [] : await embedTexts(deps, texts.map(toInput), signal);
  const embedded = texts.flatMap(({ indexId, category }, index) => {
    const vector = vectors[index] ?? null;
    if (vector === null) deps.reportRejected({ kind: scope.kind, indexId });
    return vector === null ? [] : [{ indexId, category, vector }];
  });
  // Texts with lower index ids than that of the scope were committed before it was read.
  const next = texts.length < BATCH ? scope.nextIndexId : (texts.at(-1)?.indexId ?? scope.from) + 1;
  await storeVectors(deps, { scope, readTexts, next }, embedded);
  return embedded.length;
}

/** Removes the vectors of another model. */
async function startScope(db: Db, { id }: PendingScope, model: string): Promise<0> {
  await db.transaction().execute(async (tx) => {
    await tx
      .updateTable("search_scopes")
      .set({ embedding_model: model, embedded_index_id: 0 })
      .where("id", "=", id)
      .execute();
    await tx.deleteFrom("search_vectors").where("scope_id", "=", id).execute();
  });
  return 0;
}

interface EmbeddedText {
  indexId: number;
  category: number;
  vector: Float32Array;
}

/** Stores the vectors of the texts that still exist: texts can be removed while the endpoint responds. */
async function storeVectors(
  { db, embeddings }: EmbedScopesDeps,
  { scope, readTexts, next }: { scope: PendingScope; readTexts: ReadTexts; next: number },
  embedded: readonly EmbeddedText[],
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    // Locks the scope. A transaction that removes one of the texts waits, and then removes its vector too.
    const { numUpdatedRows } = await tx
      .updateTable("search_scopes")
      .set({ embedded_index_id: next })
      .where("id", "=", scope.id)
      .where("embedding_model", "=", embeddings.model)
      .where("embedded_index_id", "=", scope.from)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n || embedded.length === 0) return;
    const existing = new Set(
      (await readTexts(tx, scope, { from: scope.from, limit: BATCH })).map(({ indexId }) => indexId),
    );
    const rows = embedded
      .filter(({ indexId }) => existing.has(indexId))
      .map(({ indexId, category, vector }) => ({
        scope_id: scope.id,
        index_id: indexId,
        category,
        signs: signsOf(vector),
        vector: encodeVector(vector),
      }));
    if (rows.length > 0) await tx.insertInto("search_vectors").values(rows).execute();
  });
}

function toInput({ title, body }: { title: string; body: string }): string {
  return `${title}\n${body}`.trim();
}

/** Returns `null` for a text that the endpoint does not accept. One text of a batch does not keep the others from being embedded. */
async function embedTexts(
  { embeddings }: EmbedScopesDeps,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<(Float32Array | null)[]> {
  const embed = async (inputs: readonly string[]): Promise<Float32Array[] | null> => {
    try {
      return await embeddings.embed(inputs, { timeLimitMs: TIME_LIMIT_MS, signal });
    } catch (error) {
      if (error instanceof TextsRejected) return null;
      throw error;
    }
  };
  const all = await embed(texts);
  if (all !== null) return all;
  // If this fails too, the endpoint does not reject texts but its settings.
  await embeddings.embed(["a short text"], { timeLimitMs: TIME_LIMIT_MS, signal });
  const vectors: (Float32Array | null)[] = [];
  for (const text of texts) {
    const found = (await embed([text])) ?? (await embed([text.slice(0, SHORTENED_CHARACTERS)]));
    vectors.push(found?.[0] ?? null);
  }
  return vectors;
}
