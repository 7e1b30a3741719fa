import { expect, test } from "vitest";
import { matchesPaths, MAX_PATHS_LENGTH } from "../../../domain/push-to-deploy/path-patterns.ts";

test.each<[patterns: string[], path: string, matches: boolean]>([
  [["apps/web/**"], "apps/web/src/index.ts", true],
  [["apps/web/**"], "apps/website/index.ts", false],
  [["apps/web/"], "apps/web/a/b", true],
  [["*.json"], "package.json", true],
  [["*.json"], "apps/package.json", false],
  [["**/*.json"], "package.json", true],
  [["**/*.json"], "a/b/package.json", true],
  [["a/**/z"], "a/z", true],
  [["a/**/z"], "a/b/c/z", true],
  [["a/**/z"], "a/b/c/y", false],
  [["?.ts"], "a.ts", true],
  [["?.ts"], "ab.ts", false],
  [["src/*/index.ts"], "src/a/b/index.ts", false],
  [[".github/**"], ".github/workflows/ci.yml", true],
  [["**"], "anything/at/all", true],
  [["src/**", "!**/*.md"], "src/notes.md", false],
  [["!docs/**"], "docs/a.md", false],
  [["!docs/**"], "src/a.ts", true],
  [["ä*"], "äöü.ts", true],
])("%j and %s: %s", (patterns, path, matches) => {
  expect(matchesPaths(patterns, [path])).toBe(matches);
});

test("one matching file of several suffices, and a push without files matches nothing", () => {
  expect(matchesPaths(["src/**"], ["docs/a.md", "src/a.ts"])).toBe(true);
  expect(matchesPaths(["src/**"], [])).toBe(false);
});

test("patterns with many stars are matched without trying all of their combinations", () => {
  const names = Array.from({ length: 20 }, (_, n) => `${"*a".repeat(40)}*b${n}`);
  const folders = Array.from({ length: 20 }, (_, n) => `${"**/a/".repeat(15)}b${n}`);
  // With combinations, this would take longer than any test may.
  expect(matchesPaths(names, ["a".repeat(MAX_PATHS_LENGTH)])).toBe(false);
  expect(matchesPaths(folders, ["a/".repeat(MAX_PATHS_LENGTH / 2)])).toBe(false);
});
