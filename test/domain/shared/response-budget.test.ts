import { expect, test } from "vitest";
import { takeWithinBudget, truncateForJson, truncateText } from "../../../domain/shared/response-budget.ts";

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

test("truncateForJson cuts a text until it fits as a JSON string, whatever has to be escaped", () => {
  expect(truncateForJson("short", 5)).toBe("short");
  expect(truncateForJson("longer", 5)).toBe("longe");
  expect(truncateForJson('"".', 5)).toBe('"".');
  for (const text of [
    '"'.repeat(100),
    "\u0000".repeat(100),
    "a\n".repeat(100),
    "😀".repeat(100),
    `${"a".repeat(60)}\\\\`,
  ]) {
    const cut = truncateForJson(text, 61);
    const length = JSON.stringify(cut).length - 2;
    expect(text.startsWith(cut)).toBe(true);
    expect(length).toBeLessThanOrEqual(61);
    // The longest escaped character has six characters.
    expect(length).toBeGreaterThan(61 - 6 - 6);
  }
});
