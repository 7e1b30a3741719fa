import type { PassageHit } from "../documents/search-passages.ts";
import type { QuestionCoverage } from "./question-coverage.ts";
import { listSentences, type Sentence } from "./list-sentences.ts";

/** A sentence of a document, or a row of a table, that answers a question. */
export interface FoundSentence extends Sentence {
  hit: PassageHit;
  /** How much of the question the sentence and the headings above it cover: 0 to 1. */
  score: number;
}

/** How much of a question a passage covers, at least, to answer it. Measured: decision 30. */
const MIN_COVERAGE = 0.45;
/** A further sentence is as good as this share of the best one. */
const FURTHER_SHARE = 0.7;
/** How much of the score of a sentence depends on the rank of its passage. */
const RANK_SHARE = 0.5;
/** A question for a number prefers sentences with one. */
const NUMBER_BONUS = 1.15;
const ASKS_FOR_NUMBER =
  /\b(?:how (?:much|many|long|often|soon|late|early|far|big|large)|when|price|prices|cost|costs|fee|fees|rate|limit|percent|deadline)\b/i;
/** Of two sentences that are equally good, the earlier one in its passage. */
const POSITION_MALUS = 0.01;

/**
 * Finds the sentences that answer a question in passages, the best one first.
 *
 * @returns none when no passage covers enough of the question
 */
export function extractAnswer(
  question: string,
  coverage: QuestionCoverage,
  hits: readonly PassageHit[],
  limit: number,
): FoundSentence[] {
  const asksForNumber = ASKS_FOR_NUMBER.test(question);
  const best = Math.max(...hits.map(({ score }) => score));
  const found = hits.flatMap((hit) => {
    if (coverage.ofPassage(hit) < MIN_COVERAGE) return [];
    return listSentences(hit.content).map((sentence, position) => {
      const bonus = asksForNumber && /\d/.test(sentence.quote) ? NUMBER_BONUS : 1;
      const rank = 1 - RANK_SHARE + (RANK_SHARE * hit.score) / best;
      const score = coverage.score(sentence, hit) * bonus * rank - POSITION_MALUS * Math.min(position, 9);
      return { ...sentence, hit, score: Math.min(1, score) };
    });
  });
  const sorted = found.toSorted((a, b) => b.score - a.score);
  const least = (sorted[0]?.score ?? 0) * FURTHER_SHARE;
  const good = sorted.filter(({ score }) => score > 0 && score >= least);
  // The same sentence can be in several documents. The first one stays.
  return [...new Map(good.toReversed().map((sentence) => [sentence.quote, sentence])).values()]
    .toSorted((a, b) => b.score - a.score)
    .slice(0, limit);
}
