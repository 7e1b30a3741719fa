import fc from "fast-check";
import { expect, test } from "vitest";
import { BestHits, type IndexHit } from "../../../domain/search/best-hits.ts";

function select(hits: readonly IndexHit[], limit: number): BestHits {
  const best = new BestHits(limit);
  for (const hit of hits) best.add(hit);
  return best;
}

test("the hits with the highest scores stay, and of equal ones those with the lowest index ids", () => {
  const scores = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 40 });
  const order = fc.array(fc.nat(), { minLength: 40, maxLength: 40 });
  fc.assert(
    fc.property(scores, order, fc.nat({ max: 20 }), (all, keys, limit) => {
      const hits = all
        .map((score, indexId) => ({ indexId, score }))
        .toSorted((a, b) => keys[a.indexId]! - keys[b.indexId]!);
      const expected = hits.toSorted((a, b) => b.score - a.score || a.indexId - b.indexId).slice(0, limit);
      expect(select(hits, limit).toSorted()).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});

test("the threshold is the lowest score of the best hits, once there are as many as the limit", () => {
  const best = new BestHits(2);
  const thresholds = [5, 3, 4, 1, 7].map((score, indexId) => {
    best.add({ indexId, score });
    return best.threshold;
  });
  expect(thresholds).toEqual([0, 3, 4, 4, 5]);
  expect(new BestHits(0).threshold).toBe(0);
});
