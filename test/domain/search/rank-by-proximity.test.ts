import { beforeAll, expect, test } from "vitest";
import { loadAnalyzer } from "../../../domain/search/analyzer.ts";
import { rankByProximity } from "../../../domain/search/rank-by-proximity.ts";

beforeAll(async () => {
  await loadAnalyzer("english");
});

const rank = (query: string, ...bodies: string[]) =>
  rankByProximity(
    { text: query, language: "english" },
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
  expect(rankByProximity({ text: "card", language: "english" }, hits).map(({ score }) => score)).toEqual([2, 1]);
});
