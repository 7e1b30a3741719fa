import fc from "fast-check";
import { expect, test } from "vitest";
import { joinParts, mergeTexts, RESOLUTIONS } from "../../clients/dashboard/src/pages/agents/merge-texts.ts";

const text = fc
  .tuple(fc.array(fc.constantFrom("a", "b", "c", "d", ""), { maxLength: 8 }), fc.boolean())
  .map(([lines, hasLastBreak]) => lines.join("\n") + (hasLastBreak ? "\n" : ""));

test("changes of different lines are merged without a conflict", () => {
  const parts = mergeTexts({ mine: "A\nb\nc\nd\n", base: "a\nb\nc\nd\n", theirs: "a\nb\nc\nD\n" });
  expect(parts.map(({ kind }) => kind)).toEqual(["merged"]);
  expect(joinParts(parts, new Map())).toBe("A\nb\nc\nD\n");
});

test("a text that only one side has changed is the merged text", () => {
  fc.assert(
    fc.property(text, text, (base, changed) => {
      expect(joinParts(mergeTexts({ mine: changed, base, theirs: base }), new Map())).toBe(changed);
      expect(joinParts(mergeTexts({ mine: base, base, theirs: changed }), new Map())).toBe(changed);
      expect(joinParts(mergeTexts({ mine: changed, base, theirs: changed }), new Map())).toBe(changed);
    }),
  );
});

test("a conflict has the lines of both sides, of which one or both are kept", () => {
  const parts = mergeTexts({ mine: "a\nmine", base: "a\nb\n", theirs: "a\ntheirs\n" });
  expect(parts).toEqual([
    { kind: "merged", text: "a\n" },
    { kind: "conflict", mine: "mine", theirs: "theirs\n" },
  ]);
  const merged = RESOLUTIONS.map((resolution) => joinParts(parts, new Map([[1, resolution]])));
  expect(merged).toEqual(["a\nmine", "a\ntheirs\n", "a\nmine\ntheirs\n"]);
  expect(() => joinParts(parts, new Map())).toThrow("not resolved");
});
