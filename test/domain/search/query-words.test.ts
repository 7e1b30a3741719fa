import { expect, test } from "vitest";
import type { Language } from "../../../domain/search/languages.ts";
import { readQueryWords } from "../../../domain/search/query-words.ts";

const read = (text: string, ...more: Language[]) => readQueryWords(text, ["english", ...more]);
const texts = async (text: string) => (await read(text)).map((word) => word.text);

test("a word has a term for each language in which it differs", async () => {
  expect(await read("Invoices", "simple")).toEqual([
    { text: "invoices", terms: ["invoic", "invoices"], isStopWord: false },
  ]);
  expect(await read("Zürich", "simple")).toEqual([{ text: "zurich", terms: ["zurich"], isStopWord: false }]);
});

test("a word that is a stop word in all languages is left out, and one that is so in some of them is marked", async () => {
  expect(await read("the price")).toEqual([{ text: "price", terms: ["price"], isStopWord: false }]);
  expect(await read("the price", "simple")).toEqual([
    { text: "the", terms: ["the"], isStopWord: true },
    { text: "price", terms: ["price"], isStopWord: false },
  ]);
  expect(await readQueryWords("price", [])).toEqual([]);
});

test("words with the same terms are read once, as they are written first", async () => {
  expect(await texts("Invoicing of invoices, invoice")).toEqual(["invoicing"]);
});

test("of a script without spaces, pairs of characters are read, and a single character only if it is alone", async () => {
  expect(await texts("发票付")).toEqual(["发票", "票付"]);
  expect(await texts("票 x发")).toEqual(["票", "x", "发"]);
});

test("at most 10,000 characters and 1,024 words are read", async () => {
  const filler = "the ".repeat(2500);
  expect(await texts(`${filler.slice(0, -4)}oakx elm`)).toEqual(["oakx"]);
  const words = Array.from({ length: 1030 }, (_, index) => `w${index}`);
  expect(await texts(words.join(" "))).toEqual(words.slice(0, 1024));
});
