import { expect, test } from "vitest";
import { fuseHits } from "../../../domain/search/fuse-hits.ts";

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
