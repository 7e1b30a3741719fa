import { expect, test } from "vitest";
import { findPathViolation, foldPath } from "../../../domain/skills/file-path-rules.ts";

test.each([
  "SKILL.md",
  "scripts/fill.py",
  ".env",
  ".github/workflows/ci.yml",
  ".gitignore",
  "a b/c.d/..e",
  "console.log",
  "com10",
  "lpt",
  "my-aux/nul-1",
  "Zürich/日本語.md",
  "a".repeat(255),
  `${"é".repeat(127)}x`,
  "1/2/3/4/5/6/7/8",
])("the path %j is allowed", (path) => {
  expect(findPathViolation(path)).toBeNull();
});

const SYSTEMS = "must not contain any of the characters";
const END = "ends with a dot or a space";
const DEVICE = "Windows reserves for a device";

test.each([
  ["", "must not be empty"],
  ["a\ud800", "must be Unicode text"],
  ["a\ufffd", "must be Unicode text"],
  ["a\nb", "must be Unicode text"],
  ["a\u200bb", "must be Unicode text"],
  ["a\u202eb", "must be Unicode text"],
  ["a\u2028b", "must be Unicode text"],
  ["a\u2029b", "must be Unicode text"],
  ["a\\b", "not a backslash"],
  ["C:/a", "must not start with a drive letter"],
  ["c:a", "must not start with a drive letter"],
  ["/a", "must be relative"],
  ["..", "must not contain `..`"],
  ["a/../b", "must not contain `..`"],
  ["a//b", "must not contain empty segments or `.`"],
  ["a/", "must not contain empty segments or `.`"],
  ["a/./b", "must not contain empty segments or `.`"],
  ["ab:c", SYSTEMS],
  ["a*", SYSTEMS],
  ["a?", SYSTEMS],
  ['a"', SYSTEMS],
  ["a<", SYSTEMS],
  ["a>", SYSTEMS],
  ["a|", SYSTEMS],
  ["a./b", END],
  ["a/b.", END],
  ["a /b", END],
  ["a/b ", END],
  ["con", DEVICE],
  ["a/PRN", DEVICE],
  ["aux.txt", DEVICE],
  ["Nul.tar.gz/b", DEVICE],
  ["com1", DEVICE],
  ["COM9.txt", DEVICE],
  ["lpt1", DEVICE],
  ["LPT9", DEVICE],
  [".git/config", "must not be in a folder `.git`"],
  ["a/.GIT/hooks", "must not be in a folder `.git`"],
  ["a".repeat(256), "must have at most 255 bytes"],
  ["é".repeat(128), "must have at most 255 bytes"],
  ["1/2/3/4/5/6/7/8/9", "must have at most 7 nested folders"],
])("the path %j is rejected", (path, rule) => {
  expect(findPathViolation(path)).toContain(rule);
});

test("paths that are one file on some file system are folded to the same text", () => {
  const folded = ["É/a", "e\u0301/A", "é/ａ"].map(foldPath);
  expect(new Set(folded)).toEqual(new Set(["é/a"]));
  expect(foldPath("\u1e9b\u0323")).toBe(foldPath(foldPath("\u1e9b\u0323")));
  expect(foldPath("a/b")).not.toBe(foldPath("a/c"));
});
