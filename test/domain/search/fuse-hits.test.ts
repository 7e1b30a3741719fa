import fc from "fast-check";
import { expect, test } from "vitest";
import { BestHits, type IndexHit } from "../../../domain/search/best-hits.ts";
import { fuseHits, fuseRanks } from "../../../domain/search/fuse-hits.ts";

const hit = (indexId: number, found: string, score = 7) => ({ indexId, score, found });

test("hits by words keep their order and scores if there are none by meaning", () => {
  const byWords = [hit(1, "words", 9), hit(2, "words", 4)];
  expect(fuseHits(byWords, [])).toEqual(byWords);
  expect(fuseHits([], [])).toEqual([]);
});

test("what is found by words and by meaning is first with the score 1, as it was found by words", () => {
  const fused = fuseHits([hit(1, "words"), hit(2, "words")], [hit(2, "meaning"), hit(3, "meaning")]);
  expect(fused.map(({ indexId, found }) => [indexId, found])).toEqual([
    [2, "words"],
    [1, "words"],
    [3, "meaning"],
  ]);
  const best = 1 / 61 + 1 / 62;
  for (const [index, score] of [1, 1 / 61 / best, 1 / 62 / best].entries())
    expect(fused[index]!.score).toBeCloseTo(score, 10);
});

test("without hits by words, the hits by meaning stay in their order", () => {
  const fused = fuseHits([], [hit(5, "meaning"), hit(4, "meaning")]);
  expect(fused).toEqual([hit(5, "meaning", 1), { ...hit(4, "meaning"), score: expect.closeTo(61 / 62, 10) }]);
});

test("what is high in both rankings is above what is first in one of them", () => {
  const fused = fuseRanks([
    ["a", "b", "c"],
    ["d", "b", "e"],
  ]);
  expect(fused.map(({ item }) => item)).toEqual(["b", "a", "d", "c", "e"]);
  expect(fused[0]!.score).toBeCloseTo(2 / 62);
});

test("one ranking keeps its order, and no ranking has no items", () => {
  expect(fuseRanks([["c", "a", "b"], []]).map(({ item }) => item)).toEqual(["c", "a", "b"]);
  expect(fuseRanks([])).toEqual([]);
});

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
