import { expect, test } from "vitest";
import { findPrefixed, type SimilarTerm } from "../../../domain/search/expand-prefixes.ts";
import { findSimilar } from "../../../domain/search/find-similar.ts";
import type { QueryWord } from "../../../domain/search/query-words.ts";
import { sampleText as text, TestScope } from "../../support/search/test-scope.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const db = () => service().service.parts.db;

/** A scope with texts whose words are their terms, and its id. */
async function scopeOf(...bodies: string[]): Promise<number> {
  const scope = new TestScope(service);
  await scope.add(...bodies.map((body) => text(body, { language: "simple" })));
  return (await scope.readRows()).scope!.id;
}

const word = (value: string, more: Partial<QueryWord> = {}): QueryWord => ({
  text: value,
  terms: [value],
  otherTerms: [],
  isStopWord: false,
  ...more,
});
const wordsOf = (...values: string[]) => values.map((value) => word(value));

/** The terms that were found for each word, the best first. */
function termsOf(found: ReadonlyMap<QueryWord, readonly SimilarTerm[]>): Record<string, string[]> {
  return Object.fromEntries([...found].map(([{ text: key }, terms]) => [key, terms.map(({ term }) => term)]));
}

const prefixed = async (id: number, words: readonly QueryWord[]) => termsOf(await findPrefixed(db(), id, words, ""));

async function similar(id: number, words: readonly QueryWord[], textCount = 10): Promise<Record<string, string[]>> {
  const statistics = { id, textCount, averageLength: 1, languages: [], byPrefix: new Map() };
  const found = termsOf(await findSimilar(db(), statistics, words, ""));
  return Object.fromEntries(Object.entries(found).map(([key, terms]) => [key, terms.toSorted()]));
}

/** Words of letters only. */
const letters = (count: number) =>
  Array.from({ length: count }, (_, index) => String.fromCodePoint(97 + Math.floor(index / 26), 97 + (index % 26)));

test("a word is completed to the terms that begin with it, the most frequent first, and not to itself", async () => {
  const id = await scopeOf("card cardinal carding car cb cat", "cardinal cardinal", "cardinal");
  expect(await findPrefixed(db(), id, wordsOf("card"), "")).toEqual(
    new Map([
      [
        word("card"),
        [
          { term: "cardinal", weight: 0.25 },
          { term: "carding", weight: expect.closeTo(2 / 7) },
        ],
      ],
    ]),
  );
  expect(await prefixed(id, wordsOf("absent"))).toEqual({ absent: [] });
  expect(await prefixed(id, [])).toEqual({});
});

test("a term of another scope does not complete a word", async () => {
  await scopeOf("cardinal");
  expect(await prefixed(await scopeOf("other"), wordsOf("card"))).toEqual({ card: [] });
});

test("a word is completed as it is written and as it is in the index, and a shorter term counts in full", async () => {
  const id = await scopeOf("invoice invoices invoicing invoic");
  const found = await findPrefixed(db(), id, [word("invoices", { terms: ["invoic"] })], "");
  expect([...found.values()][0]!.toSorted((a, b) => (a.term < b.term ? -1 : 1))).toEqual([
    { term: "invoice", weight: 0.5 },
    { term: "invoices", weight: 0.5 },
    { term: "invoicing", weight: expect.closeTo((0.5 * 8) / 9) },
  ]);
  expect(await prefixed(id, [word("invoicex", { terms: ["invoici"] })])).toEqual({ invoicex: ["invoicing"] });
});

test("a stop word, and a word of one or two letters, is completed only if it is the whole query", async () => {
  const id = await scopeOf("thesis carton вышел carpet");
  const the = word("the", { isStopWord: true });
  expect(await prefixed(id, [the])).toEqual({ the: ["thesis"] });
  expect(await prefixed(id, [the, word("carp")])).toEqual({ carp: ["carpet"] });
  expect((await prefixed(id, wordsOf("c")))["c"]!.toSorted()).toEqual(["carpet", "carton"]);
  expect(await prefixed(id, wordsOf("ca", "c", "вы", "thes"))).toEqual({ вы: ["вышел"], thes: ["thesis"] });
  expect(await prefixed(id, wordsOf("the", "ca"))).toEqual({ the: ["thesis"] });
});

test("the first twelve words are completed, each to at most 24 terms", async () => {
  const endings = letters(30);
  const id = await scopeOf(endings.map((ending) => `card${ending}`).join(" "), `cardab cardbd`);
  const words = [...letters(12).map((value) => `${value}x`), "card"];
  expect(Object.keys(await prefixed(id, wordsOf(...words)))).toEqual(words.slice(0, 12));
  const { card } = await prefixed(id, wordsOf("card"));
  expect(card).toHaveLength(24);
  expect(card!.slice(0, 2).toSorted()).toEqual(["cardab", "cardbd"]);
});

test("a word of four letters is similar to terms with one other letter, and one of eight letters to terms with two", async () => {
  const id = await scopeOf("card cord crd cards carts invoices invoixyz iivoices nivoices");
  expect(await similar(id, wordsOf("cart"))).toEqual({ cart: ["card", "carts"] });
  expect(await similar(id, wordsOf("car"))).toEqual({});
  expect(await similar(id, wordsOf("invoice"))).toEqual({ invoice: ["invoices"] });
  expect(await similar(id, wordsOf("invoicxs"))).toEqual({ invoicxs: ["iivoices", "invoices", "nivoices"] });
  expect(await similar(id, [word("cart", { isStopWord: true })])).toEqual({});
  expect(await similar(id, wordsOf("zzzz"))).toEqual({});
  expect(await similar(await scopeOf("other"), wordsOf("cart"))).toEqual({});
});

test("a term with one other letter counts half as much as the word, and one with two a quarter", async () => {
  const id = await scopeOf("invoices invoicez");
  const scope = { id, textCount: 10, averageLength: 1, languages: [], byPrefix: new Map() };
  const [found] = (await findSimilar(db(), scope, [word("invoixez", { terms: ["invoices"] })], "")).values();
  expect(found!.toSorted((a, b) => (a.term < b.term ? -1 : 1))).toEqual([
    { term: "invoices", weight: 0.5 },
    { term: "invoicez", weight: 0.5 },
  ]);
  const [further] = (await findSimilar(db(), scope, wordsOf("invoixec"), "")).values();
  expect(further).toEqual(expect.arrayContaining([{ term: "invoices", weight: 0.25 }]));
});

test("the first letter must be right or swapped, and in a large scope the second one too", async () => {
  const id = await scopeOf("cxrd acrd xard card");
  expect(await similar(id, wordsOf("caxd"))).toEqual({ caxd: ["card"] });
  expect(await similar(id, wordsOf("cardx"))).toEqual({ cardx: ["card"] });
  expect(await similar(id, wordsOf("carde"), 16_384)).toEqual({ carde: ["card"] });
  expect(await similar(id, wordsOf("card"), 16_384)).toEqual({ card: ["acrd", "card", "cxrd"] });
  expect(await similar(id, wordsOf("card"), 16_385)).toEqual({ card: ["acrd", "card"] });
});

test("of more than 24 similar terms, those with fewer errors stay, and then those in more texts", async () => {
  const near = ["k", "l", "m"].map((ending) => `abcdefgh${ending}`);
  const far = letters(30).map((ending) => `abcdefgh${ending}`);
  const id = await scopeOf([...far, ...near].join(" "), far.slice(-2).join(" "));
  const statistics = { id, textCount: 2, averageLength: 30, languages: [], byPrefix: new Map() };
  const [found] = (await findSimilar(db(), statistics, wordsOf("abcdefgh"), "")).values();
  const terms = found!.map(({ term }) => term);
  expect(terms).toHaveLength(24);
  expect([terms.slice(0, 3).toSorted(), terms.slice(3, 5).toSorted()]).toEqual([near, far.slice(-2)]);
});

test("the first twelve words of a query are corrected", async () => {
  const id = await scopeOf(
    letters(13)
      .map((value) => `${value}bcdx`)
      .join(" "),
  );
  const words = letters(13).map((value) => `${value}bcdy`);
  expect(Object.keys(await similar(id, wordsOf(...words)))).toEqual(words.slice(0, 12));
});
