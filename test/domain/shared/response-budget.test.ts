import { expect, test } from "vitest";
import { beginningOf, fitting } from "../../../domain/shared/response-budget.ts";

test("an answer takes as many items as have room, from the first on", () => {
  const items = ["aaaa", "bbbb", "cccc"];
  expect(fitting(items, 21)).toEqual(items);
  expect(fitting(items, 20)).toEqual(["aaaa", "bbbb"]);
  expect(fitting([], 20)).toEqual([]);
});

test("an answer takes its first item however large it is, so that a reader gets on", () => {
  expect(fitting(["x".repeat(100), "y"], 20)).toEqual(["x".repeat(100)]);
});

test("the beginning of a text never ends in half of a character", () => {
  expect(beginningOf("héllo", 2)).toBe("hé");
  expect(beginningOf("a😀b", 2)).toBe("a");
  expect(beginningOf("a😀b", 3)).toBe("a😀");
  expect(beginningOf("short", 100)).toBe("short");
});
