import { expect, test } from "vitest";
import { checkContent } from "../../../domain/agents/instruction-rules.ts";
import { describeInstructionChange } from "../../../domain/agents/set-instructions.ts";

const version = (content: string) => ({ content, hash: `hash of ${content.slice(0, 10)}` });
const describeChange = (before: string, after: string) => describeInstructionChange(version(before), version(after));
const lines = (letter: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${letter}${index}\n`).join("");

test("a change is described by both versions and a diff with two lines around it", async () => {
  const before = `${lines("a", 5)}old\n${lines("b", 5)}`;
  const after = before.replace("old", "new");
  expect(await describeChange(before, after)).toEqual({
    before: { content: before, content_hash: version(before).hash },
    after: { content: after, content_hash: version(after).hash },
    truncated: false,
    diff: expect.stringMatching(
      /--- AGENTS\.md\n\+\+\+ AGENTS\.md\n@@ -4,5 \+4,5 @@\n a3\n a4\n-old\n\+new\n b0\n b1\n$/,
    ),
  });
});

test("the same content has no diff", async () => {
  expect(await describeChange("same", "same")).toMatchObject({ truncated: false, diff: null });
});

test.each([
  ["before", "x".repeat(8001), "y"],
  ["after", "y", "x".repeat(8001)],
])("content of more than 8,000 characters %s is cut", async (which, before, after) => {
  const change = await describeChange(before, after);
  expect(change.truncated).toBe(true);
  expect(change[which as "before" | "after"].content).toBe("x".repeat(8000));
});

test("content of 8,000 characters is whole", async () => {
  const change = await describeChange("x".repeat(8000), "y".repeat(8000));
  expect([change.truncated, change.before.content.length, change.after.content.length]).toEqual([false, 8000, 8000]);
});

test("a diff is cut after 4,000 characters, and is left out for more than 500 changed lines", async () => {
  const { diff } = await describeChange("a\n", lines("long line ", 499));
  expect([diff?.length, diff?.includes("-a\n+long line 0\n")]).toEqual([4000, true]);
  expect((await describeChange("a\n", lines("b", 500))).diff).toBeNull();
});

test.each(["", "# Rules\n\tBe brief. 😀\r\n", "é".repeat(16_384)])("the content is accepted", (content) => {
  expect(() => checkContent(content)).not.toThrow();
});

test.each([
  ["a NUL character", "a\0b", "content: must be Unicode text"],
  ["an unpaired surrogate", "a\ud800", "content: must be Unicode text"],
  ["a byte too many", "x".repeat(32_769), "has 32769 bytes, and at most 32768 are allowed"],
])("content with %s is rejected", (_, content, message) => {
  expect(() => checkContent(content)).toThrow(
    expect.objectContaining({ code: "invalid", message: expect.stringContaining(message) }),
  );
});
