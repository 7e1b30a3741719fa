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
