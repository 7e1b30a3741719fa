import { expect, test } from "vitest";
import { checkContent } from "../../../domain/agents/instruction-rules.ts";

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
