import { expect, test } from "vitest";
import { truncateText, takeWithinBudget } from "../../../domain/shared/response-budget.ts";

test("takeWithinBudget takes items from the start while they fit", () => {
  const items = ["aaaa", "bbbb", "cccc"];
  expect(takeWithinBudget(items, 21)).toEqual(items);
  expect(takeWithinBudget(items, 20)).toEqual(["aaaa", "bbbb"]);
  expect(takeWithinBudget([], 20)).toEqual([]);
});

test("takeWithinBudget takes the first item even if it is too large", () => {
  expect(takeWithinBudget(["x".repeat(100), "y"], 20)).toEqual(["x".repeat(100)]);
});

test("truncateText never cuts a surrogate pair in half", () => {
  expect(truncateText("héllo", 2)).toBe("hé");
  expect(truncateText("a😀b", 2)).toBe("a");
  expect(truncateText("a😀b", 3)).toBe("a😀");
  expect(truncateText("abc😀", 4)).toBe("abc");
  expect(truncateText("short", 100)).toBe("short");
});
