import type { PassageHit } from "../documents/search-passages.ts";
import type { QueryEmbedder } from "../search/query-embedder.ts";
import type { FoundSentence } from "./extract-answer.ts";
import { listSentences, nameCells } from "./list-sentences.ts";

/** The passages of which sentences are compared, and the sentences, because they are embedded while the caller waits. */
const PASSAGES = 3;
const SENTENCES = 31;
/** A further sentence is as similar as this share of the best one. */
const FURTHER_SHARE = 0.9;
const MAX_QUOTES = 3;

/**
 * Finds the sentences whose meaning is most similar to a question, in passages that were found by their meaning. It is for
 * questions whose words the documents do not have.
 *
 * @returns the best sentence first; none without an endpoint, or when it does not respond in time
 */
export async function quoteByMeaning(
  queryEmbedder: QueryEmbedder | null,
  orgId: string,
  question: string,
  hits: readonly PassageHit[],
  limit: number,
): Promise<FoundSentence[]> {
  const similar = hits
    .filter(({ similarity }) => similarity !== null)
    .toSorted((a, b) => (b.similarity ?? 0) - (a.similarity ?? 0))
    .slice(0, PASSAGES);
  const sentences = similar
    .flatMap((hit) => listSentences(hit.content).map((sentence) => ({ ...sentence, hit })))
    .slice(0, SENTENCES);
  if (queryEmbedder === null || sentences.length === 0) return [];
  // With the headings, as passages are embedded: they say what a sentence is about.
  const texts = sentences.map(
    (sentence) => `${sentence.hit.documentTitle}\n${sentence.hit.heading}\n${nameCells(sentence)}`,
  );
  const [query, ...vectors] = (await queryEmbedder.embed(orgId, [question, ...texts])) ?? [];
  if (query === undefined) return [];
  const found = sentences.map((sentence, index) => ({ ...sentence, score: dotProduct(query, vectors[index]) }));
  const least = Math.max(queryEmbedder.minSimilarity, FURTHER_SHARE * Math.max(...found.map(({ score }) => score)));
  return found
    .filter(({ score }) => score >= least)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, Math.min(limit, MAX_QUOTES));
}

function dotProduct(a: Float32Array, b: Float32Array | undefined): number {
  return a.reduce((sum, value, index) => sum + value * (b?.[index] ?? 0), 0);
}
