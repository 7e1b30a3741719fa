import { expect, test } from "vitest";
import { toPlainText } from "../../../domain/shared/plain-text.ts";

test("the plain text has every line break as \\n, and keeps tabs", () => {
  expect(toPlainText("a\r\nb\rc\n\td")).toBe("a\nb\nc\n\td");
});

test.each([
  ["a color", "\u001b[31mred\u001b[0m", "red"],
  ["a single-byte control sequence", "\u009b31mred", "red"],
  ["the first control characters", "\u0000a\u0008", "a"],
  ["the control characters around a line break", "\u000ba\u001f", "a"],
  ["the last control characters", "\u007fa\u009f", "a"],
  ["marks of a direction", "\u061ca\u200eb\u200f", "ab"],
  ["embedded directions", "\u202aa\u202e", "a"],
  ["isolated directions", "\u2066a\u2069", "a"],
])("the plain text has no %s", (_, text, expected) => {
  expect(toPlainText(text)).toBe(expected);
});

test("a lone surrogate becomes a replacement character", () => {
  expect(toPlainText("a\ud800b")).toBe("a\ufffdb");
});
