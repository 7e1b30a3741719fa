import { fuseRanks } from "./fuse-ranks.ts";

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
