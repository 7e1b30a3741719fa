import { expect, test } from "vitest";
import { WordFrequencies } from "../../../domain/procedures/word-frequencies.ts";

test("the occurrences of a word and of all words with a prefix are counted", () => {
  const frequencies = new WordFrequencies();
  expect([frequencies.getCount("a"), frequencies.getCountOfPrefix("a"), frequencies.getCountOfPrefix("")]).toEqual([
    0, 0, 0,
  ]);
  for (const words of [
    ["invite", "in", "zoo"],
    ["invoice", "in"],
    ["invoice", "apple", "inwards"],
  ])
    frequencies.add(words);
  for (const [word, count] of [
    ["in", 2],
    ["invoice", 2],
    ["inv", 0],
    ["zoo", 1],
  ] as const)
    expect([word, frequencies.getCount(word)]).toEqual([word, count]);
  for (const [prefix, count] of [
    ["", 8],
    ["in", 6],
    ["inv", 3],
    ["invoice", 2],
    ["invoices", 0],
    ["a", 1],
    ["zoo", 1],
    ["zz", 0],
    ["b", 0],
  ] as const)
    expect([prefix, frequencies.getCountOfPrefix(prefix)]).toEqual([prefix, count]);
  frequencies.add(["zoology"]);
  expect(frequencies.getCountOfPrefix("zoo")).toBe(2);
});
