import type { PassageHit } from "../documents/search-passages.ts";
import { getLoadedAnalyzer } from "../search/analyzer.ts";
import type { WeighedWord } from "../search/weigh-words.ts";
import type { Sentence } from "./list-sentences.ts";

/** Words that say how a question is asked, and not what it is about. */
const QUESTION_WORDS = new Set(
  "ask asking called can company cost costs could describe do does explain find get gets give happen happens have how know list long look make many may me mean means much must need needs next offer often please policy provide say says see show tell use used using want way work works".split(
    " ",
  ),
);
/** What a word counts that only the form of a question needs, relative to its weight. */
const QUESTION_WORD_SHARE = 0.3;

/** A longer question is about those of its words that say most, because no passage has most of its words. */
const MAX_WORDS = 16;

/** What a similar word counts, because it may be another word and no typing error. */
const SIMILAR_SHARE = 0.4;
/** What a word in a heading counts for the sentences below it. */
const HEADING_SHARE = 0.6;

/** Which words of a question a text has. */
export class QuestionCoverage {
  readonly #words: readonly WeighedWord[];
  readonly #total: number;
  /** What the headings of a passage have: each of its sentences asks for it. */
  readonly #headings = new WeakMap<PassageHit, ReadonlySet<WeighedWord>>();
  readonly #columns = new WeakMap<PassageHit, Map<string, ReadonlySet<WeighedWord>>>();

  constructor(words: readonly WeighedWord[]) {
    const weighed = selectTelling(words).map((word) => ({
      ...word,
      weight: word.weight * (QUESTION_WORDS.has(word.text) ? QUESTION_WORD_SHARE : 1),
    }));
    this.#words = weighed;
    this.#total = weighed.reduce((sum, { weight }) => sum + weight, 0);
  }

  /** Returns how much of the question a passage covers, with the headings above it: 0 to 1. */
  ofPassage(hit: PassageHit): number {
    return this.#share(new Set([...this.#findInHeading(hit), ...this.#find(hit.content, hit)]));
  }

  /**
   * Returns how much of the question a sentence of a passage covers: 0 to 1. A heading counts less than the sentence. The
   * names of the columns count as a part of a row that has another word of the question, and otherwise as a heading.
   */
  score({ quote, header }: Sentence, hit: PassageHit): number {
    const own = this.#find(quote, hit);
    const above = header === null ? new Set<WeighedWord>() : this.#findInColumns(header, hit);
    const covered = own.size === 0 ? own : own.union(above);
    const headings = this.#findInHeading(hit).union(above).difference(covered);
    return this.#share(covered) + HEADING_SHARE * this.#share(headings);
  }

  #findInHeading(hit: PassageHit): ReadonlySet<WeighedWord> {
    const found = this.#headings.get(hit) ?? this.#find(`${hit.documentTitle}\n${hit.heading}`, hit);
    this.#headings.set(hit, found);
    return found;
  }

  #findInColumns(header: string, hit: PassageHit): ReadonlySet<WeighedWord> {
    const byHeader = this.#columns.get(hit) ?? new Map<string, ReadonlySet<WeighedWord>>();
    this.#columns.set(hit, byHeader);
    const found = byHeader.get(header) ?? this.#find(header, hit);
    byHeader.set(header, found);
    return found;
  }

  #find(text: string, { language }: PassageHit): Set<WeighedWord> {
    const terms = new Set(
      getLoadedAnalyzer(language)
        .analyze(text)
        .map((term) => term.text),
    );
    return new Set(this.#words.filter((word) => !word.terms.isDisjointFrom(terms)));
  }

  /** Returns how much of the question the words are: 0 to 1. */
  #share(found: ReadonlySet<WeighedWord>): number {
    const sum = [...found].reduce(
      (total, { weight, isMissing }) => total + weight * (isMissing ? SIMILAR_SHARE : 1),
      0,
    );
    return this.#total === 0 ? 0 : sum / this.#total;
  }
}

/**
 * Returns the words that say what a question is about: without stop words unless there are no others, and of a long question the rarest
 * words that a text has, which are those that the search finds passages by. A stop word of one language can be an unknown word of another
 * one, which would weigh more than all words of the question.
 */
function selectTelling(all: readonly WeighedWord[]): readonly WeighedWord[] {
  const telling = all.filter(({ isStopWord }) => !isStopWord);
  const words = telling.length > 0 ? telling : all;
  if (words.length <= MAX_WORDS) return words;
  return words
    .filter(({ isMissing }) => !isMissing)
    .toSorted((a, b) => b.weight - a.weight)
    .slice(0, MAX_WORDS);
}
