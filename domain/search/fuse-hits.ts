/**
 * Merges what was found by words with what was found by meaning.
 *
 * @param byWords - the best first
 * @param byMeaning - the best first. If it is empty, the hits keep their scores; otherwise the best hit gets the score 1.
 */
export function fuseHits<T extends { indexId: number; score: number }>(
  byWords: readonly T[],
  byMeaning: readonly T[],
): T[] {
  if (byMeaning.length === 0) return [...byWords];
  const hits = new Map([...byMeaning, ...byWords].map((hit) => [hit.indexId, hit]));
  const fused = fuseRanks([byWords.map(({ indexId }) => indexId), byMeaning.map(({ indexId }) => indexId)]);
  const best = fused[0]?.score ?? 1;
  return fused.flatMap(({ item, score }) => {
    const hit = hits.get(item);
    return hit === undefined ? [] : [{ ...hit, score: score / best }];
  });
}

/** How slowly the weight of a rank falls, as in Cormack et al., "Reciprocal Rank Fusion" (2009). */
const K = 60;

/**
 * Merges rankings of the same things by reciprocal rank fusion: only the places in the rankings count, not their scores.
 *
 * @param rankings - each with the best first, and without duplicates
 * @returns everything in one of the rankings, the best first
 */
export function fuseRanks<T>(rankings: readonly (readonly T[])[]): { item: T; score: number }[] {
  const scores = new Map<T, number>();
  for (const ranking of rankings)
    for (const [place, item] of ranking.entries()) scores.set(item, (scores.get(item) ?? 0) + 1 / (K + place + 1));
  return [...scores].map(([item, score]) => ({ item, score })).toSorted((a, b) => b.score - a.score);
}
