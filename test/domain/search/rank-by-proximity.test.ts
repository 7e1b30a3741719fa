import { beforeAll, expect, test } from "vitest";
import { loadAnalyzer } from "../../../domain/search/analyzer.ts";
import { rankByProximity } from "../../../domain/search/rank-by-proximity.ts";

beforeAll(async () => {
  await loadAnalyzer("english");
});

const rank = (query: string, ...bodies: string[]) =>
  rankByProximity(
    { text: query, language: "english", limit: bodies.length },
    bodies.map((body) => ({ title: "", body, score: 1 })),
  ).map(({ body }) => body);

test("of texts with equal scores, the one with the words of the query next to each other is first", () => {
  const far = "The gift was sent. Nobody asked what was on the card.";
  const near = "Send a gift card.";
  expect(rank("gift cards", far, near)).toEqual([near, far]);
});

test("words in the order of the query count more than in the reverse order", () => {
  expect(rank("change price", "price change", "change price")).toEqual(["change price", "price change"]);
});

test("hits of a query with one word keep their order by score", () => {
  const hits = [
    { title: "", body: "card", score: 1 },
    { title: "card", body: "", score: 2 },
  ];
  expect(rankByProximity({ text: "card", language: "english", limit: 2 }, hits).map(({ score }) => score)).toEqual([
    2, 1,
  ]);
});

test("the best hits of a limit are those without a limit, also when a lower score gets closer words", () => {
  const bodies = ["gift and card", "a card of a gift", "a gift card", "card", "gift", "gift gift card card"];
  const hits = Array.from({ length: 60 }, (_, index) => ({
    title: "",
    body: `${bodies[index % bodies.length]} ${index}`,
    score: 1 + ((index * 7) % 20) / 100,
  }));
  const all = rankByProximity({ text: "gift card", language: "english", limit: hits.length }, hits);
  expect(all).toHaveLength(60);
  for (const limit of [1, 2, 5, 17])
    expect(rankByProximity({ text: "gift card", language: "english", limit }, hits)).toEqual(all.slice(0, limit));
});

/** Returns how close the words of a query are in a text: 1 if they follow each other. */
function closeness(query: string, body: string, title = ""): number {
  const [hit] = rankByProximity({ text: query, language: "english", limit: 1 }, [{ title, body, score: 20 }]);
  return Math.round((hit!.score / 20 - 1) * 10_000) / 1000;
}

test.each([
  ["gift card", 1],
  ["gift, a card", 0.5],
  ["gift x y z card", 0.25],
  ["gift 1 2 3 4 5 6 7 card", 0.125],
  ["gift 1 2 3 4 5 6 7 8 card", 0],
  ["card gift", 0.5],
  ["card x gift", 0.25],
  ["gift", 0],
  ["nothing", 0],
  ["gift x card, gift card, card x gift", 1],
  ["card. Gifts and cards", 0.5],
])("in %j, the closeness of the words of the query is %d", (body, expected) => {
  expect(closeness("gift cards", body)).toBe(expected);
});

test("the closeness of more words is the mean of their pairs", () => {
  expect(closeness("gift card price", "gift card price")).toBe(1);
  expect(closeness("gift card price", "gift card x price")).toBe(0.75);
  expect(closeness("gift card price", "gift x price")).toBe(0);
  expect(closeness("gift card price", "price card")).toBe(0.25);
  // An identifier begins where its first part does.
  expect(closeness("createInvoice", "createInvoice")).toBe(0.75);
});

test("the closer words of title and body count", () => {
  expect(closeness("gift card", "gift x card", "gift card")).toBe(1);
  expect(closeness("gift card", "gift card", "card")).toBe(1);
  expect(closeness("gift card", "card", "gift")).toBe(0);
});

test("a word that the query has twice, and its stop words, count once and not at all", () => {
  const hits = [
    { title: "", body: "card cards", score: 1 },
    { title: "", body: "card", score: 2 },
  ];
  for (const text of ["card cards", "the card of a card", ""])
    expect(rankByProximity({ text, language: "english", limit: 1 }, hits)).toEqual([hits[1]]);
});

test("hits with equal scores keep their order", () => {
  const hits = ["gift card one", "gift card two", "gift card three"].map((body) => ({ title: "", body, score: 1 }));
  const ranked = rankByProximity({ text: "gift card", language: "english", limit: 3 }, hits);
  expect(ranked.map(({ body }) => body)).toEqual(hits.map(({ body }) => body));
  expect(rankByProximity({ text: "gift card", language: "english", limit: 9 }, hits)).toEqual(ranked);
});
