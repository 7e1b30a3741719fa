import { expect, test } from "vitest";
import { truncateText, takeWithinBudget } from "../../../domain/shared/response-budget.ts";

test("an answer takes as many items as have room, from the first on", () => {
  const items = ["aaaa", "bbbb", "cccc"];
  expect(takeWithinBudget(items, 21)).toEqual(items);
  expect(takeWithinBudget(items, 20)).toEqual(["aaaa", "bbbb"]);
  expect(takeWithinBudget([], 20)).toEqual([]);
});

test("an answer takes its first item however large it is, so that a reader gets on", () => {
  expect(takeWithinBudget(["x".repeat(100), "y"], 20)).toEqual(["x".repeat(100)]);
});

test("the beginning of a text never ends in half of a character", () => {
  expect(truncateText("héllo", 2)).toBe("hé");
  expect(truncateText("a😀b", 2)).toBe("a");
  expect(truncateText("a😀b", 3)).toBe("a😀");
  expect(truncateText("short", 100)).toBe("short");
});
