import { existsSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { BUILD_TESTS, selectSuite } from "../../scripts/test-suites.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");

test("each path of the tests of builds exists, so no suite omits a test that was moved", () => {
  expect(BUILD_TESTS.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
});

test("what one suite of tests excludes is what the other one runs", () => {
  const excluded = selectSuite("others", []).map((option) => option.replace(/^--exclude=/, "").replace(/\*\*$/, ""));
  expect(excluded).toEqual(selectSuite("builds", []));
});

test("a filter selects from the tests of both suites", () => {
  expect(selectSuite("others", ["test/contract", "-t", "git"])).toEqual(["test/contract", "-t", "git"]);
});
