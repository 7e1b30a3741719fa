import { expect, test } from "vitest";
import { analyzeText, type IndexedText } from "../../../domain/search/indexed-text.ts";

const text = (more: Partial<IndexedText>): IndexedText => ({
  title: "",
  body: "",
  category: 0,
  language: "english",
  ...more,
});

async function countsOf(more: Partial<IndexedText>): Promise<Record<string, [title: number, body: number]>> {
  const { counts } = await analyzeText(text(more));
  return Object.fromEntries([...counts].map(([term, { title, body }]) => [term, [title, body]]));
}

test("the terms of title and body are counted, and all words that are not stop words are the length", async () => {
  const analyzed = await analyzeText(text({ title: "Refund", body: "The refunds of an invoice", category: 3 }));
  expect(analyzed).toEqual({
    category: 3,
    length: 3,
    counts: new Map([
      ["refund", { title: 1, body: 1 }],
      ["invoic", { title: 0, body: 1 }],
    ]),
  });
  expect(await analyzeText(text({}))).toEqual({ category: 0, length: 0, counts: new Map() });
});

test("the words of further texts count in the body, as often as their weight says", async () => {
  const parts = [
    { text: "the refund, refunds", weight: 2 },
    { text: "card", weight: 5 },
  ];
  expect(await countsOf({ body: "refund", parts })).toEqual({ refund: [0, 5], card: [0, 5] });
  expect(await analyzeText(text({ body: "refund", parts }))).toMatchObject({ length: 4 });
});

test("of a further text, only the stop words can be counted", async () => {
  const parts = [{ text: "The refund of the invoices", weight: 1, words: "stop words" as const }];
  expect(await countsOf({ body: "refund", parts })).toEqual({ refund: [0, 1], the: [0, 2], of: [0, 1] });
});
