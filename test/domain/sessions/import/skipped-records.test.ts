import { expect, test } from "vitest";
import { mergeCounts, SkippedRecords } from "../../../../domain/sessions/import/skipped-records.ts";

test("skipped records are counted by their kind, sorted by its name", () => {
  const skipped = new SkippedRecords();
  for (const kind of [["b", "x"], ["a"], ["c"], ["b", undefined, "x"], ["a", 7, {}]]) skipped.add(...kind);
  expect(Object.entries(skipped.toObject())).toEqual([
    ["a", 2],
    ["b/x", 2],
    ["c", 1],
  ]);
});

test("records with a name that is long, empty or of other characters are counted together", () => {
  const skipped = new SkippedRecords();
  for (const name of ["x".repeat(64), "x".repeat(65), "", "a b", "a\n", "é", "a.b-c_d/e"]) skipped.add(name);
  expect(skipped.toObject()).toEqual({ ["x".repeat(64)]: 1, "a.b-c_d/e": 1, other: 5 });
});

test("the kinds beyond the first 100 are counted together, and the first 100 go on being counted", () => {
  const skipped = new SkippedRecords();
  for (const round of [1, 2]) for (let kind = 1; kind <= 103; kind++) skipped.add(`kind-${kind}`, round);
  const counts = skipped.toObject();
  expect(Object.keys(counts)).toHaveLength(101);
  expect(counts).toMatchObject({ "kind-1": 2, "kind-100": 2, other: 6 });
});

test("two lists of counts are added", () => {
  const counts = { a: 1, b: 2 };
  expect(mergeCounts(counts, { b: 3, c: 4 })).toEqual({ a: 1, b: 5, c: 4 });
  expect(counts).toEqual({ a: 1, b: 2 });
});
