import { expect, test } from "vitest";
import { fuseRanks } from "../../../domain/search/fuse-ranks.ts";

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
