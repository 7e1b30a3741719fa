import { expect, test } from "vitest";
import { QUERY_CHARACTERS, readSearchQuery } from "../../../domain/shared/search-query.ts";

const TOO_LONG = "x".repeat(QUERY_CHARACTERS + 1);

test("a query is read without spaces at its ends, and characters that the database cannot store become spaces", () => {
  expect(readSearchQuery("q", " \n an invoice ")).toBe("an invoice");
  expect(readSearchQuery("q", "an\0invoice\ud800of\ufffdMay")).toBe("an invoice of May");
  expect(readSearchQuery("q", "\ud83d\ude00")).toBe("\ud83d\ude00");
});

test("a query of the maximum length is read, also with spaces at its ends", () => {
  const longest = "x".repeat(QUERY_CHARACTERS);
  expect(readSearchQuery("q", ` ${longest} `)).toBe(longest);
});

test.each([
  ["", 0],
  [" \0\ud800 ", 0],
  [TOO_LONG, QUERY_CHARACTERS + 1],
] as const)("an empty or too long query is refused with its length", (query, length) => {
  const refused = { code: "invalid", message: `query: has ${length} characters, and 1 to 10000 are allowed.` };
  expect(() => readSearchQuery("query", query)).toThrow(expect.objectContaining(refused));
});
