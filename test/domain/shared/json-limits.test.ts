import fc from "fast-check";
import { expect, test } from "vitest";
import { isTooComplexJson } from "../../../domain/shared/json-limits.ts";

const listOf = (count: number, value = "{}") => `[${Array.from({ length: count }, () => value).join(",")}]`;

test("a text may have 100,000 values and 100 levels", () => {
  expect(isTooComplexJson(listOf(100_000, "1"))).toBe(false);
  expect(isTooComplexJson(listOf(100_001, "1"))).toBe(true);
  expect(isTooComplexJson(listOf(50_000))).toBe(false);
  expect(isTooComplexJson(listOf(50_001))).toBe(true);
  expect(isTooComplexJson(`${"[".repeat(100)}${"]".repeat(100)}`)).toBe(false);
  expect(isTooComplexJson(`${"[".repeat(101)}${"]".repeat(101)}`)).toBe(true);
});

test("the characters of strings do not count, whatever they are escaped with", () => {
  const marks = `[{,"\\`.repeat(100_000);
  expect(isTooComplexJson(JSON.stringify({ [marks]: marks, other: [marks, `${marks}\\`] }))).toBe(false);
  expect(isTooComplexJson(`{"a":"\\\\",${listOf(100_001).slice(1)}`)).toBe(true);
  expect(isTooComplexJson(`"${"[".repeat(1000)}`)).toBe(false);
});

test("every small document is accepted", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 20 }), (value) => {
      expect(isTooComplexJson(JSON.stringify(value))).toBe(false);
    }),
  );
});

test("a caller can set other limits", () => {
  const limits = { values: 3, depth: 2 };
  expect(isTooComplexJson("[1,2,3]", limits)).toBe(false);
  expect(isTooComplexJson("[1,2,3,4]", limits)).toBe(true);
  expect(isTooComplexJson("[[[]]]", limits)).toBe(true);
});
