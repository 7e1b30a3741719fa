import { expect, test } from "vitest";
import { toStorableText, truncateBytes } from "../../../../domain/sessions/import/sanitize-text.ts";
import { toTitle } from "../../../../domain/sessions/import/session-title.ts";

const CUT = "\n[The rest is not imported.]";

test("NUL characters and unpaired surrogates are replaced, and other characters stay", () => {
  expect(toStorableText("a\0b\0 \ud83d 😀\u0001\n")).toBe("a\ufffdb\ufffd \ufffd 😀\u0001\n");
});

test.each(["x", "é", "€", "😀"])(
  "a text of %s is cut at a character, and only if it exceeds the limit",
  (character) => {
    const size = Buffer.byteLength(character);
    for (let limit = 100; limit < 110; limit++)
      for (let count = 1; count <= 120; count++) {
        const text = character.repeat(count);
        const cut = truncateBytes(text, limit);
        const room = Math.floor((limit - CUT.length) / size);
        expect(cut).toBe(count * size <= limit ? text : character.repeat(room) + CUT);
      }
  },
);

test("a title is the first line with visible text", () => {
  for (const lineBreak of ["\n", "\r", "\r\n", "\u2028", "\u2029"])
    expect(toTitle(`${lineBreak} \t\u200b${lineBreak}First\tline ${lineBreak}Second`)).toBe("First line");
  expect(toTitle("Half of a pair \ud83d")).toBe("Half of a pair \ufffd");
});

test("a text without visible characters makes no title", () => {
  for (const text of ["", " \t", "\n\r\u2028", "\u200b\u0007"]) expect(toTitle(text)).toBeNull();
});

test("a title has at most 100 characters, and says when it is cut", () => {
  expect(toTitle("x".repeat(100))).toBe("x".repeat(100));
  expect(toTitle("x".repeat(101))).toBe(`${"x".repeat(99)}…`);
  expect(toTitle(`${"x".repeat(98)}😀 more`)).toBe(`${"x".repeat(98)}…`);
  expect(toTitle(`${"x".repeat(97)}  and more`)).toBe(`${"x".repeat(97)}…`);
});

test("the first 10,000 characters of a text are searched for a title", () => {
  expect(toTitle(`${" ".repeat(9999)}xy`)).toBe("x");
  expect(toTitle(`${" ".repeat(10_000)}x`)).toBeNull();
});
