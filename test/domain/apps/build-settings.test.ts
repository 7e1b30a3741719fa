import { expect, test } from "vitest";
import { checkBuildNetwork } from "../../../domain/apps/build-network-rules.ts";
import { checkCustomization } from "../../../domain/apps/customization-text-rules.ts";
import { normalizeRootDirectory } from "../../../domain/apps/root-directory-rules.ts";
import type { AppBuilder } from "../../../domain/ports/app-builder-agent.ts";

const INVALID = expect.objectContaining({ code: "invalid" });

test.each([
  ["apps/web", "apps/web"],
  ["apps/web/", "apps/web"],
  ["./apps//web/./", "apps/web"],
  [".", "."],
  ["./", "."],
  ["..a/b..", "..a/b.."],
  ["größe und mehr", "größe und mehr"],
  ["x".repeat(255), "x".repeat(255)],
])("the root directory %s has one form", (directory, normalized) => {
  expect(normalizeRootDirectory(directory)).toBe(normalized);
});

test.each([
  ["", "empty"],
  ["é".repeat(128), "at most 255 bytes"],
  ["a\nb", "control"],
  ["a\u202eb", "control"],
  ["a\u2028b", "control"],
  ["a\u2029b", "control"],
  ["\ud800", "control"],
  ["apps\\web", "backslash"],
  ["/apps", "relative"],
  ["..", "inside the repository"],
  ["apps/../web", "inside the repository"],
])("the root directory %j is rejected with the rule that it violates", (directory, rule) => {
  expect(() => normalizeRootDirectory(directory)).toThrow(INVALID);
  expect(() => normalizeRootDirectory(directory)).toThrow(rule);
});

test("a build may use the network only if the operator allows it", () => {
  for (const egress of ["none", "public"] as const)
    for (const requested of [undefined, false]) expect(() => checkBuildNetwork(requested, egress)).not.toThrow();
  expect(() => checkBuildNetwork(true, "public")).not.toThrow();
  expect(() => checkBuildNetwork(true, "none")).toThrow(INVALID);
});

const BUILDER: AppBuilder = { customize: () => Promise.resolve({ summary: "", steps: 0 }) };

test("a customization is plain text of at most 20,000 characters, and not blank", () => {
  for (const text of ["x", "x".repeat(20_000), "Change the title.\r\n\tUse “Grüße” 🎉.", undefined])
    expect(() => checkCustomization(text, BUILDER)).not.toThrow();
  for (const [text, reason] of [
    ["", /blank/],
    [" \n\t", /blank/],
    ["x".repeat(20_001), /at most 20000 characters/],
    ["a\0b", /plain text/],
    ["a\u001b[31m", /plain text/],
    ["a\u007f", /plain text/],
    ["a\ud800", /plain text/],
  ] as const)
    expect(() => checkCustomization(text, BUILDER)).toThrow(
      expect.objectContaining({ code: "invalid", message: expect.stringMatching(reason) }),
    );
});

test("a customization requires an app builder, and an app without one does not", () => {
  expect(() => checkCustomization(undefined, null)).not.toThrow();
  expect(() => checkCustomization("x", null)).toThrow(/needs a language model/);
});
