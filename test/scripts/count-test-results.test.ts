import { existsSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { countTests, formatCounts } from "../../scripts/count-test-results.ts";
import { BUILD_TESTS, selectSuite, SLOW_TESTS } from "../../scripts/test-suites.ts";

const file = (status: string, ...statuses: string[]) => ({
  status,
  assertionResults: statuses.map((each) => ({ status: each })),
});

test("tests of all files are counted", () => {
  const testResults = [file("passed", "passed", "passed"), file("failed", "failed", "passed")];
  expect(countTests({ testResults })).toEqual({ passed: 3, failed: 1, skipped: 0 });
});

test("a test that neither passed nor failed is counted as skipped", () => {
  expect(countTests({ testResults: [file("passed", "passed", "pending", "skipped", "todo")] })).toEqual({
    passed: 1,
    failed: 0,
    skipped: 3,
  });
});

test("a file that fails without a failed test is counted as one failure", () => {
  expect(countTests({ testResults: [file("failed"), file("failed", "skipped")] })).toEqual({
    passed: 0,
    failed: 2,
    skipped: 1,
  });
});

test("the formatted counts contain skipped tests only if there are any", () => {
  expect(formatCounts({ passed: 12, failed: 0, skipped: 0 })).toBe("12 passed, 0 failed");
  expect(formatCounts({ passed: 12, failed: 1, skipped: 2 })).toBe("12 passed, 1 failed, 2 skipped");
});

const ROOT = path.resolve(import.meta.dirname, "../..");

test("each path of a suite exists, so no suite omits a test that was moved", () => {
  const paths = [...BUILD_TESTS, ...SLOW_TESTS].flatMap(expandBraces);
  expect(paths.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
});

test("each test is in one suite", () => {
  const excluded = selectSuite("others", []).map((option) => option.replace(/^--exclude=/, "").replace(/\*\*$/, ""));
  expect(excluded).toEqual([...selectSuite("builds", []), ...selectSuite("slow", [])]);
  expect(new Set(excluded).size).toBe(excluded.length);
});

test("a filter selects from the tests of all suites", () => {
  expect(selectSuite("others", ["test/contract", "-t", "git"])).toEqual(["test/contract", "-t", "git"]);
});

/** The paths that a pattern with at most one list in braces has. */
function expandBraces(pattern: string): string[] {
  const [, before, names, after] = /^(.*)\{(.*)\}(.*)$/.exec(pattern) ?? [];
  return names === undefined ? [pattern] : names.split(",").map((name) => `${before}${name}${after}`);
}
