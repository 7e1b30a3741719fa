import type { PassageHit } from "../documents/search-passages.ts";
import { findSentences, type TextRange, trimRange } from "../documents/find-sentences.ts";
import { findUnits } from "../documents/split-passages.ts";
import { getLoadedAnalyzer } from "../search/analyzer.ts";
import type { WeighedWord } from "../search/weigh-words.ts";

/** A sentence of a document that answers a question. */
export interface FoundSentence {
  hit: PassageHit;
  /** Stands literally in the document. */
  quote: string;
  /** How much of the question the sentence and the headings above it cover: 0 to 1. */
  score: number;
}

/** Words that say how a question is asked, and not what it is about. */
const QUESTION_WORDS = new Set(
  "ask asking called can company cost costs could describe do does explain find get gets give happen happens have how know list long look make many may me mean means much must need needs next offer often please policy provide say says see show tell use used using want way work works".split(
    " ",
  ),
);
/** What a word counts that only the form of a question needs, relative to its weight. */
const QUESTION_WORD_SHARE = 0.3;

/** How much of a question a passage covers, at least, to answer it. Measured: docs/benchmarks.md. */
const MIN_COVERAGE = 0.55;
/** What a word in a heading counts for the sentences below it. */
const HEADING_SHARE = 0.6;
/** A further sentence is as good as this share of the best one. */
const FURTHER_SHARE = 0.7;
/** A question for a number prefers sentences with one. */
const NUMBER_BONUS = 1.15;
const ASKS_FOR_NUMBER =
  /\b(?:how (?:much|many|long|often|soon|late|early|far|big|large)|when|price|prices|cost|costs|fee|fees|rate|limit|percent|deadline)\b/i;
/** Of two sentences that are equally good, the earlier one in its passage. */
const POSITION_MALUS = 0.01;

/**
 * Finds the sentences that answer a question in passages, the best one first.
 *
 * @param words - of the question
 * @returns none when no passage covers enough of the question
 */
export function extractAnswer(
  question: string,
  words: readonly WeighedWord[],
  hits: readonly PassageHit[],
  limit: number,
): FoundSentence[] {
  const coverage = new Coverage(words);
  const asksForNumber = ASKS_FOR_NUMBER.test(question);
  const found = hits.flatMap((hit) => {
    const heading = coverage.find(`${hit.documentTitle}\n${hit.heading}`, hit);
    const whole = coverage.find(hit.content, hit);
    if (coverage.share(new Set([...heading, ...whole])) < MIN_COVERAGE) return [];
    return listSentences(hit.content).map((quote, position) => {
      const own = coverage.find(quote, hit);
      const inHeading = new Set([...heading].filter((word) => !own.has(word)));
      const covered = coverage.share(own) + HEADING_SHARE * coverage.share(inHeading);
      const bonus = asksForNumber && /\d/.test(quote) ? NUMBER_BONUS : 1;
      return { hit, quote, score: Math.min(1, covered * bonus - POSITION_MALUS * Math.min(position, 9)) };
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

/** Which words of a question a text has. */
class Coverage {
  readonly #words: readonly WeighedWord[];
  readonly #total: number;

  constructor(words: readonly WeighedWord[]) {
    const weighed = words.map((word) => ({
      ...word,
      weight: word.weight * (QUESTION_WORDS.has(word.text) ? QUESTION_WORD_SHARE : 1),
    }));
    this.#words = weighed;
    this.#total = weighed.reduce((sum, { weight }) => sum + weight, 0);
  }

  find(text: string, { language }: PassageHit): Set<WeighedWord> {
    const terms = new Set(
      getLoadedAnalyzer(language)
        .analyze(text)
        .map((term) => term.text),
    );
    return new Set(this.#words.filter((word) => !word.terms.isDisjointFrom(terms)));
  }

  /** Returns how much of the question the words are: 0 to 1. */
  share(found: ReadonlySet<WeighedWord>): number {
    const sum = [...found].reduce((total, { weight }) => total + weight, 0);
    return this.#total === 0 ? 0 : sum / this.#total;
  }
}

/** Returns the sentences of a passage as they stand in it, without the marks of lists and headings. */
function listSentences(content: string): string[] {
  return findUnits(content, { start: 0, end: content.length })
    .filter(({ start }) => !/^(?:`{3}|~{3})/.test(content.slice(start, start + 3)))
    .flatMap((unit) => {
      const text = withoutMark(content, unit);
      return content.charAt(unit.start) === "|" ? [text] : findSentences(content, text);
    })
    .map(({ start, end }) => content.slice(start, end))
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
}

function withoutMark(content: string, { start, end }: TextRange): TextRange {
  const mark = /^(?:[-*+]|\d{1,9}[.)]|#{1,6}|>)\s+/.exec(content.slice(start, Math.min(end, start + 20)))?.[0] ?? "";
  return trimRange(content, { start: start + mark.length, end });
}
