import { expect, test } from "vitest";
import { rankMemories } from "../../../domain/memory/rank-memories.ts";
import { loadAnalyzer } from "../../../domain/search/analyzer.ts";

const NOW = new Date("2026-05-06T12:00:00Z");

/** Turns with these index ids, which have just been stored. */
const givenTurns = (...indexIds: number[]) =>
  indexIds.map((indexId) => ({ indexId, beginning: "Anna: hello", createdAt: NOW, updatedAt: NOW }));

const query = { words: new Set<string>(), period: undefined, analyzer: await loadAnalyzer("english") };

test("the best match is first with the highest score, although the turns around another one add more to its score", () => {
  const hits = [
    { indexId: 1, score: 10 },
    { indexId: 20, score: 8 },
    { indexId: 21, score: 8 },
    { indexId: 22, score: 8 },
  ];
  const [first, second] = rankMemories(hits, givenTurns(1, 20, 21, 22), query);
  expect(second).toEqual({ indexId: 21, score: 8 + 2 * 0.3 * 8 });
  expect(first).toEqual({ indexId: 1, score: second?.score });
});

test("the best match is first, although others were stored on the day of the query", () => {
  const [old, recent] = givenTurns(1, 9);
  const hits = [
    { indexId: 1, score: 10 },
    { indexId: 9, score: 8 },
  ];
  const period = { from: new Date("2026-05-06T00:00:00Z"), to: new Date("2026-05-07T00:00:00Z") };
  const memories = [{ ...old!, createdAt: new Date("2026-01-01T00:00:00Z") }, recent!];
  const ranked = rankMemories(hits, memories, { ...query, period });
  expect(ranked.map(({ indexId }) => indexId)).toEqual([1, 9]);
});

test("each neighbour adds a share of its score, the less the further it is", () => {
  const turns = givenTurns(10, 11, 12, 13, 14, 15);
  const scores = new Map(
    rankMemories([{ indexId: 10, score: 1 }], turns, query).map(({ indexId, score }) => [indexId, score]),
  );
  const shares = [1, 2, 3, 4].map((distance) => [10 + distance, 0.3 / distance] as const);
  expect(scores).toEqual(new Map([[10, 1], ...shares]));
});
