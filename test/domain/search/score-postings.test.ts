import { expect, test } from "vitest";
import { blockOf, encodePosting, offsetOf, POSTING_BYTES } from "../../../domain/search/postings.ts";
import { createScoreTable, inverseDocumentFrequency, scorePosting } from "../../../domain/search/ranking.ts";
import type { TermPostings } from "../../../domain/search/read-postings.ts";
import { type MatchedWord, scorePostings, type ScoringOptions } from "../../../domain/search/score-postings.ts";

interface Occurrence {
  indexId: number;
  body?: number;
  title?: number;
  length?: number;
  category?: number;
}

/** The postings of a term that is in these texts: by default once in the body of a text of three words. */
function postingsOf(...occurrences: Occurrence[]): TermPostings {
  const blocks = [...Map.groupBy(occurrences, ({ indexId }) => blockOf(indexId))].map(([block, texts]) => {
    const data = new Uint8Array(texts.length * POSTING_BYTES);
    for (const [index, { indexId, body = 1, title = 0, length = 3, category = 0 }] of texts.entries()) {
      const posting = { offset: offsetOf(indexId), category, titleCount: title, bodyCount: body, length };
      encodePosting(data, index * POSTING_BYTES, posting);
    }
    return { block, data };
  });
  return { count: occurrences.length, blocks };
}

/** A word with one term. */
const word = (...occurrences: Occurrence[]): MatchedWord => [
  { postings: postingsOf(...occurrences), weight: 1, prefix: "" },
];

const score = (words: MatchedWord[], more: Partial<ScoringOptions> = {}) =>
  scorePostings(words, {
    byPrefix: new Map([["", { textCount: 10, averageLength: 3 }]]),
    prefix: "",
    limit: 10,
    ...more,
  });

/** The score of BM25 for a word that is in so many of ten texts, so often in a text of so many words; on average they have three. */
function expected(count: number, frequency = 1, length = 3): number {
  const idf = Math.log(1 + (10 - count + 0.5) / (count + 0.5));
  return (idf * 2.5 * frequency) / (frequency + 1.5 * (0.25 + (0.75 * length) / 3));
}
const close = (indexId: number, value: number) => ({ indexId, score: expect.closeTo(value, 10) });

test("a text is scored by how often and where it has a word, and by its length", () => {
  const texts = [{ indexId: 0 }, { indexId: 1, body: 2 }, { indexId: 2, length: 7 }, { indexId: 3, title: 1, body: 0 }];
  expect(score([word(...texts)])).toEqual([
    close(3, expected(4, 3)),
    close(1, expected(4, 2)),
    close(0, expected(4)),
    close(2, expected(4, 1, 7)),
  ]);
});

test("the scores of several words are added, and a rare word counts more", () => {
  const [common, rare] = [word({ indexId: 0 }, { indexId: 1 }, { indexId: 2 }), word({ indexId: 1 })];
  expect(score([common, rare])).toEqual([
    close(1, expected(3) + expected(1)),
    close(0, expected(3)),
    close(2, expected(3)),
  ]);
});

test("of several terms of a word, the best one counts, by its weight, and the word is as frequent as all of them", () => {
  const terms = [
    { postings: postingsOf({ indexId: 0 }, { indexId: 1 }), weight: 1, prefix: "" },
    { postings: postingsOf({ indexId: 1, body: 9 }, { indexId: 2 }), weight: 0.5, prefix: "" },
  ];
  expect(score([terms])).toEqual([close(1, 0.5 * expected(4, 9)), close(0, expected(4)), close(2, 0.5 * expected(4))]);
  expect(score([terms.toReversed()])).toEqual(score([terms]));
  const other = word({ indexId: 2 });
  expect(score([other, terms.toReversed()])[0]).toEqual(close(2, expected(1) + 0.5 * expected(4)));
});

test("texts in several blocks are scored, also those of a block that only one of the words has", () => {
  const first = word({ indexId: 5000 }, { indexId: 9000 });
  const second = word({ indexId: 5 }, { indexId: 5000 }, { indexId: 4096 });
  expect(score([first, second])).toEqual([
    close(5000, expected(2) + expected(3)),
    close(9000, expected(2)),
    close(5, expected(3)),
    close(4096, expected(3)),
  ]);
  // The last of the texts of a block.
  expect(score([word({ indexId: 4095 })])).toEqual([close(4095, expected(1))]);
});

test("of equal scores, the lowest index ids stay, in whatever order the blocks are", () => {
  const { count, blocks } = postingsOf({ indexId: 0 }, { indexId: 1 }, { indexId: 5000 });
  const found = score([[{ postings: { count, blocks: blocks.toReversed() }, weight: 1, prefix: "" }]], { limit: 2 });
  expect(found.map(({ indexId }) => indexId)).toEqual([0, 1]);
});

test("only texts of the categories and with the index ids are found, by one term and by several", () => {
  const texts = Array.from({ length: 8 }, (_, category) => ({ indexId: category, category }));
  const postings = postingsOf(...texts);
  for (const terms of [
    [{ postings, weight: 1, prefix: "" }],
    [
      { postings, weight: 1, prefix: "" },
      { postings, weight: 0.1, prefix: "" },
    ],
  ]) {
    const find = (more: Partial<ScoringOptions>) => score([terms], more).map(({ indexId }) => indexId);
    expect(find({})).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(find({ categories: [7, 3] })).toEqual([3, 7]);
    expect(find({ categories: [] })).toEqual([]);
    expect(find({ indexIds: new Set([6, 1, 50]) })).toEqual([1, 6]);
    expect(find({ indexIds: new Set([6, 1]), limit: 1 })).toEqual([1]);
  }
});

test("a search can have other parameters", () => {
  const parameters = { k1: 1, b: 0, titleWeight: 5 };
  const [found] = score([word({ indexId: 0, title: 1, body: 2, length: 100 })], { parameters });
  expect(found!.score).toBeCloseTo((inverseDocumentFrequency(1, 10) * 2 * 7) / 8, 10);
});

test("every count and length has a finite score, and none reaches the limit", () => {
  const table = createScoreTable(3, { k1: 1.5, b: 0.75, titleWeight: 3 });
  const scores = Array.from({ length: 65_536 }, (_, bytes) =>
    scorePosting(table, Uint8Array.of(0, 0, bytes & 0xff, bytes >>> 8), 0),
  );
  expect(scores[0]).toBe(0);
  expect(scores.at(-1)).toBeGreaterThan(0);
  expect(scores.every((value) => value >= 0 && value < table.limit)).toBe(true);
});

test("the fewer texts have a word, the more it says, and it never says less than nothing", () => {
  expect(inverseDocumentFrequency(0, 10)).toBeCloseTo(Math.log(22), 10);
  expect(inverseDocumentFrequency(10, 10)).toBeCloseTo(Math.log(1 + 0.5 / 10.5), 10);
  // The terms of several languages can be in one text.
  expect(inverseDocumentFrequency(20, 10)).toBe(inverseDocumentFrequency(10, 10));
});

test("a word is as frequent as in the texts of each language, and in another language not rarer than in that of the query", () => {
  const own = { textCount: 10, averageLength: 3 };
  const found = (other: number) =>
    score(
      [
        [
          { postings: postingsOf({ indexId: 0 }, { indexId: 1 }), weight: 1, prefix: "" },
          { postings: postingsOf({ indexId: 2 }), weight: 1, prefix: "de:" },
        ],
      ],
      {
        byPrefix: new Map([
          ["", own],
          ["de:", { textCount: other, averageLength: 3 }],
        ]),
      },
    );
  expect(found(1000)).toEqual([close(0, expected(2)), close(1, expected(2)), close(2, expected(2))]);
  const [, , last] = found(1);
  expect(last).toEqual({ indexId: 2, score: expect.closeTo(Math.log(1 + 0.5 / 1.5), 10) });
});
