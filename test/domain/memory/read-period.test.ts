import { expect, test } from "vitest";
import { isShort, readPeriod } from "../../../domain/memory/read-period.ts";

/** A Wednesday. */
const NOW = new Date("2026-05-06T15:00:00Z");

test.each([
  ["What did we discuss on April 27th?", "2026-04-27", "2026-04-28"],
  ["On May 6, I read a book", "2026-05-06", "2026-05-07"],
  ["the meeting of 27 April 2023", "2023-04-27", "2023-04-28"],
  ["the 3rd of June", "2025-06-03", "2025-06-04"],
  ["December 24th", "2025-12-24", "2025-12-25"],
  ["7 Jan 2024", "2024-01-07", "2024-01-08"],
  ["Sept. 30, 2024", "2024-09-30", "2024-10-01"],
  ["What happened on 2026-02-28?", "2026-02-28", "2026-03-01"],
  ["on 10.01.2024 with her friends", "2024-01-10", "2024-01-11"],
  ["in May", "2026-05-01", "2026-06-01"],
  ["in June", "2025-06-01", "2025-07-01"],
  ["since when in December 2024?", "2024-12-01", "2025-01-01"],
  ["what changed in 2024?", "2024-01-01", "2025-01-01"],
  ["yesterday", "2026-05-05", "2026-05-06"],
  ["three days ago", "2026-05-03", "2026-05-04"],
  ["a week ago", "2026-04-27", "2026-05-04"],
  ["last week", "2026-04-27", "2026-05-04"],
  ["2 months ago", "2026-03-01", "2026-04-01"],
  ["last month", "2026-04-01", "2026-05-01"],
  ["last year", "2025-01-01", "2026-01-01"],
  ["last Monday", "2026-05-04", "2026-05-05"],
  ["last wednesday", "2026-04-29", "2026-04-30"],
])("%s is the period from %s to %s", (question, from, to) => {
  expect(readPeriod(question, NOW)).toEqual({
    from: new Date(`${from}T00:00:00Z`),
    to: new Date(`${to}T00:00:00Z`),
  });
});

test.each([
  "What may I do today?",
  "due this week",
  "next Friday",
  "on Friday",
  "Room 31 is free",
  "February 30th",
  "2026-13-01",
  "version 1.2.2024x",
  "a march of 20 people",
  "",
])("%s names no period", (question) => {
  expect(readPeriod(question, NOW)).toBeUndefined();
});

test("a period of a week is short, one of a month is not", () => {
  expect(["last week", "last month"].map((text) => isShort(readPeriod(text, NOW)!))).toEqual([true, false]);
});
