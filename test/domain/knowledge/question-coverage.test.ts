import { expect, test } from "vitest";
import { QuestionCoverage } from "../../../domain/knowledge/question-coverage.ts";
import { loadAnalyzer } from "../../../domain/search/analyzer.ts";
import { passageHit, questionWords } from "../../support/documents/passage-hit.ts";

async function ofPassage(question: string, content: string, more = {}): Promise<number> {
  return new QuestionCoverage(await questionWords(question)).ofPassage(passageHit(content, more));
}

test("a passage covers the words that it has in some form, in its content, its title or its heading", async () => {
  expect(await ofPassage("refund invoice", "Refunds take long.")).toBe(0.5);
  expect(await ofPassage("refund invoice", "Refunds of invoices")).toBe(1);
  expect(await ofPassage("refund invoice", "Nothing")).toBe(0);
  expect(await ofPassage("refund invoice", "Refund", { heading: "Invoices" })).toBe(1);
  expect(await ofPassage("refund invoice", "Refund", { documentTitle: "Invoices" })).toBe(1);
  expect(await ofPassage("refund invoice", "Nothing", { documentTitle: "Refund", heading: "Invoices" })).toBe(1);
});

test("a passage is read with the analyzer of its language", async () => {
  await loadAnalyzer("german");
  expect(await ofPassage("invoice", "invoicing", { language: "german" })).toBe(0);
  expect(await ofPassage("invoice", "invoicing")).toBe(1);
});

test("words that say how a question is asked count less", async () => {
  expect(await ofPassage("explain refund", "refund")).toBeCloseTo(1 / 1.3);
  expect(await ofPassage("explain refund", "explain")).toBeCloseTo(0.3 / 1.3);
  expect(await ofPassage("works refund", "works")).toBeCloseTo(0.3 / 1.3);
});

test("a question without words is not covered", () => {
  const coverage = new QuestionCoverage([]);
  expect(coverage.ofPassage(passageHit("refund"))).toBe(0);
});

test("a similar word covers less than the word itself", async () => {
  const [refund, invoice] = await questionWords("refund invoice");
  const coverage = new QuestionCoverage([{ ...refund!, isMissing: true }, invoice!]);
  expect(coverage.ofPassage(passageHit("refund"))).toBeCloseTo(0.2);
  expect(coverage.ofPassage(passageHit("invoice"))).toBe(0.5);
});

const letters = (count: number) => Array.from({ length: count }, (_, n) => `w${String.fromCodePoint(97 + n)}x`);

test("of a question of 16 words, all count, also those that no document has", async () => {
  const words = await questionWords(letters(16).join(" "));
  const coverage = new QuestionCoverage([{ ...words[0]!, isMissing: true, weight: 17 }, ...words.slice(1)]);
  expect(coverage.ofPassage(passageHit(letters(16).slice(1).join(" ")))).toBeCloseTo(15 / 32);
});

test("of a longer question, the 16 rarest words that a document has count", async () => {
  const all = await questionWords(letters(19).join(" "));
  const words = all.map((word, n) => ({ ...word, isMissing: n === 1, weight: n < 2 ? 1000 - n : n < 4 ? 0.5 : 1 }));
  const coverage = new QuestionCoverage(words);
  // Not the second word, which no document has, and not the two that are less rare.
  expect(coverage.ofPassage(passageHit(letters(19).slice(0, 1).join(" ")))).toBe(1000 / 1015);
  expect(coverage.ofPassage(passageHit(letters(19).slice(1).join(" ")))).toBe(15 / 1015);
});

async function score(question: string, sentence: { quote: string; header?: string }, more = {}): Promise<number> {
  const coverage = new QuestionCoverage(await questionWords(question));
  return coverage.score({ header: null, ...sentence }, passageHit("", more));
}

test("a word above a sentence counts less than one in it, and once", async () => {
  expect(await score("refund invoice", { quote: "Refund" })).toBe(0.5);
  expect(await score("refund invoice", { quote: "Refund" }, { heading: "Invoice" })).toBeCloseTo(0.8);
  expect(await score("refund invoice", { quote: "Refund" }, { documentTitle: "Invoice" })).toBeCloseTo(0.8);
  expect(await score("refund invoice", { quote: "Refund invoice" }, { heading: "Invoice" })).toBe(1);
  expect(await score("refund invoice", { quote: "Nothing" }, { heading: "Invoice" })).toBeCloseTo(0.3);
});

test("the name of a column counts as a part of a row that has another word of the question", async () => {
  const header = "| Invoice | Other |";
  expect(await score("refund invoice", { quote: "| Refund | 5 |", header })).toBe(1);
  expect(await score("refund invoice", { quote: "| Nothing | 5 |", header })).toBeCloseTo(0.3);
  expect(await score("refund invoice", { quote: "| Nothing | 5 |", header }, { heading: "Refund" })).toBeCloseTo(0.6);
});
