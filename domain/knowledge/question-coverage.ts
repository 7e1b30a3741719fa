import type { PassageHit } from "../documents/search-passages.ts";
import { getLoadedAnalyzer } from "../search/analyzer.ts";
import { type Language, prefixOfTerm } from "../search/languages.ts";
import type { WeighedWord } from "../search/weigh-words.ts";
import type { Sentence } from "./list-sentences.ts";
import { questionTerms } from "./question-words.ts";

/** What a word counts that only the form of a question needs, relative to its weight. */
const QUESTION_WORD_SHARE = 0.3;

/** A longer question is about those of its words that say most, because no passage has most of its words. */
const MAX_WORDS = 16;

/** What a similar word counts, because it may be another word and no typing error. */
const SIMILAR_SHARE = 0.4;
/** What a word in a heading counts for the sentences below it. */
const HEADING_SHARE = 0.6;
/** What a longer or shorter word with the same beginning counts: `Urlaubstage` for `Urlaub`. */
const BEGINNING_SHARE = 0.8;
/** The shortest beginning of two words, and how much of the longer word it is. */
const MIN_BEGINNING = 5;
const MIN_BEGINNING_SHARE = 0.5;
/** A word says what a question is about when it weighs at least this share of what the rarest word weighs. */
const RARE_SHARE = 0.75;

interface TellingWord extends WeighedWord {
  /** Whether it says how the question is asked, and not what it is about. */
  isForm: boolean;
}

/** How much of each word a text has: 0 to 1. */
type Found = ReadonlyMap<TellingWord, number>;

/** Which words of a question a text has. */
export class QuestionCoverage {
  readonly #words: readonly TellingWord[];
  readonly #total: number;
  /** What the headings of a passage have: each of its sentences asks for it. */
  readonly #headings = new WeakMap<PassageHit, Found>();
  readonly #columns = new WeakMap<PassageHit, Map<string, Found>>();

  /** @param language - of the question */
  constructor(words: readonly WeighedWord[], language: Language = "english") {
    const form = questionTerms(language);
    const weighed = selectTelling(words).map((word) => {
      const isForm = !word.terms.isDisjointFrom(form);
      return { ...word, isForm, weight: word.weight * (isForm ? QUESTION_WORD_SHARE : 1) };
    });
    this.#words = weighed;
    this.#total = weighed.reduce((sum, { weight }) => sum + weight, 0);
  }

  /** Returns how much of the question a passage covers, with the headings above it: 0 to 1. */
  ofPassage(hit: PassageHit): number {
    return this.#share(merge(this.#findInHeading(hit), this.#find(hit.content, hit)));
  }

  /**
   * Returns how much of the question a sentence of a passage covers: 0 to 1. A heading counts less than the sentence. The
   * names of the columns count as a part of a row that has another word of the question, and otherwise as a heading.
   */
  score({ quote, header }: Sentence, hit: PassageHit): number {
    const own = this.#find(quote, hit);
    const above: Found = header === null ? new Map() : this.#findInColumns(header, hit);
    const covered = own.size === 0 ? own : merge(own, above);
    const headings = merge(this.#findInHeading(hit), above);
    const further = new Map([...headings].filter(([word]) => !covered.has(word)));
    return this.#share(covered) + HEADING_SHARE * this.#share(further);
  }

  /**
   * Returns how much a text covers of what a question is about: its words without those of its form.
   *
   * @returns `all`: of all words; `rare`: whether it has each of the words that say most
   */
  meets(texts: readonly string[], hit: PassageHit): { all: number; rare: boolean } {
    const found = merge(this.#findInHeading(hit), this.#find(texts.join("\n"), hit));
    const content = this.#words.filter(({ isForm }) => !isForm);
    const words = content.length > 0 ? content : this.#words;
    const most = Math.max(...words.map(({ weight }) => weight));
    const total = words.reduce((sum, { weight }) => sum + weight, 0);
    const met = words.reduce((sum, word) => sum + word.weight * (found.get(word) ?? 0), 0);
    const rare = words.filter(({ weight }) => weight >= RARE_SHARE * most);
    return { all: total === 0 ? 0 : met / total, rare: rare.every((word) => (found.get(word) ?? 0) >= SIMILAR_SHARE) };
  }

  #findInHeading(hit: PassageHit): Found {
    const found = this.#headings.get(hit) ?? this.#find(`${hit.documentTitle}\n${hit.heading}`, hit);
    this.#headings.set(hit, found);
    return found;
  }

  #findInColumns(header: string, hit: PassageHit): Found {
    const byHeader = this.#columns.get(hit) ?? new Map<string, Found>();
    this.#columns.set(hit, byHeader);
    const found = byHeader.get(header) ?? this.#find(header, hit);
    byHeader.set(header, found);
    return found;
  }

  #find(text: string, { language }: PassageHit): Found {
    const analyzed = getLoadedAnalyzer(language).analyze(text);
    const terms = new Set(analyzed.map((term) => term.text));
    const found = new Map<TellingWord, number>();
    for (const word of this.#words) {
      const share = shareOf(word, terms);
      if (share > 0) found.set(word, share);
    }
    return found;
  }

  /** Returns how much of the question the words are: 0 to 1. */
  #share(found: Found): number {
    const sum = [...found].reduce((total, [{ weight }, share]) => total + weight * share, 0);
    return this.#total === 0 ? 0 : sum / this.#total;
  }
}

function merge(first: Found, second: Found): Found {
  const merged = new Map(first);
  for (const [word, share] of second) merged.set(word, Math.max(share, merged.get(word) ?? 0));
  return merged;
}

function shareOf(word: TellingWord, terms: ReadonlySet<string>): number {
  if (!word.terms.isDisjointFrom(terms)) return word.isMissing ? SIMILAR_SHARE : 1;
  if (word.isForm) return 0;
  for (const own of word.terms) for (const term of terms) if (haveSameBeginning(own, term)) return BEGINNING_SHARE;
  return 0;
}

/** Whether one of two terms of a language begins with the other one. */
function haveSameBeginning(first: string, second: string): boolean {
  const [short, long] = first.length < second.length ? [first, second] : [second, first];
  if (!long.startsWith(short)) return false;
  const prefix = prefixOfTerm(short).length;
  const length = short.length - prefix;
  return length >= MIN_BEGINNING && length >= MIN_BEGINNING_SHARE * (long.length - prefix) && !/\d/.test(long);
}

/**
 * Returns the words that say what a question is about: without stop words unless there are no others, and of a long question the rarest
 * words that a text has, which are those that the search finds passages by.
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
