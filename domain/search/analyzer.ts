import { LRUCache } from "lru-cache";
import { foldDiacritics } from "./fold-diacritics.ts";
import { type Language, prefixOf } from "./languages.ts";
import { splitWords, type Word } from "./split-words.ts";
import { loadWordRules, type WordRules } from "./word-rules.ts";

/** Changes whenever a text gets other terms than before. Scopes of an earlier version have to be indexed again. */
export const ANALYZER_VERSION = 2;

export interface Term {
  /** What the index contains. */
  text: string;
  /** The number of the word in its text. */
  position: number;
}

const MAX_CACHED_STEMS = 20_000;
const NO_RULES: WordRules = { stem: (word) => word, stopWords: [] };
/** What a stemmer can reduce: a word without digits. */
const STEMMABLE = /^[\p{L}\p{M}]+$/u;

/** Reduces the words of a text to the terms of the index. The result depends on the text and the language only. */
export class Analyzer {
  readonly language: Language;
  /** What the terms begin with. */
  readonly prefix: string;
  readonly #stopWords: ReadonlySet<string>;
  readonly #stem: WordRules["stem"];
  readonly #termByWord = new LRUCache<string, string>({ max: MAX_CACHED_STEMS });

  constructor(language: Language, { stem, stopWords }: WordRules) {
    this.language = language;
    this.prefix = prefixOf(language);
    this.#stem = stem;
    this.#stopWords = new Set(stopWords);
  }

  /** Returns the terms of a text, in its order. Stop words have no term. */
  analyze(text: string): Term[] {
    const words = splitWords(text);
    return this.toTerms(words).flatMap((term, index) =>
      term === null ? [] : [{ text: term, position: words[index]?.position ?? 0 }],
    );
  }

  /** Returns the stop words of a text as the terms that they are in `simple`. */
  findStopWords(text: string): Term[] {
    const words = splitWords(text);
    const terms = this.toTerms(words);
    return words
      .filter((_, index) => terms[index] === null)
      .map((word) => ({ text: SIMPLE.#toTerm(word.text), position: word.position }));
  }

  /** Returns the term of each word of a text, `null` for a stop word. */
  toTerms(words: readonly Word[]): (string | null)[] {
    let skipped = -1;
    return words.map((word) => {
      if (word.position === skipped) return null;
      if (!this.#isStopWord(word)) return this.#toTerm(word.text);
      if (word.kind === "contraction") skipped = word.position;
      return null;
    });
  }

  /** Returns how many words of a text there are, and how many of them are stop words. */
  countStopWords(text: string): { words: number; stopWords: number } {
    const words = splitWords(text).filter(({ kind }) => kind === "word" || kind === "contraction");
    return { words: words.length, stopWords: words.filter((word) => this.#isStopWord(word)).length };
  }

  /** `IT` in capitals is not a stop word. */
  #isStopWord({ text, isAcronym }: Word): boolean {
    return !isAcronym && this.#stopWords.has(text);
  }

  #toTerm(word: string): string {
    const known = this.#termByWord.get(word);
    if (known !== undefined) return known;
    const term = this.prefix + this.#reduce(word.replaceAll("'", ""));
    this.#termByWord.set(word, term);
    return term;
  }

  /** English has no diacritics that its stemmer needs; those of other languages do. */
  #reduce(word: string): string {
    if (!STEMMABLE.test(word)) return foldDiacritics(word);
    if (this.language === "english") return this.#stem(foldDiacritics(word)) || word;
    return foldDiacritics(this.#stem(word)) || word;
  }
}

const analyzers = new Map<Language, Promise<Analyzer>>();
const loaded = new Map<Language, Analyzer>();

/** Returns the analyzer of a language. It is loaded on first use and then kept: there is one for each language. */
export function loadAnalyzer(language: Language): Promise<Analyzer> {
  const known = analyzers.get(language);
  if (known !== undefined) return known;
  const loading = createAnalyzer(language);
  analyzers.set(language, loading);
  return loading;
}

/** Returns the analyzer of a language that is loaded already, otherwise that of `simple`. */
export function getLoadedAnalyzer(language: Language): Analyzer {
  return loaded.get(language) ?? SIMPLE;
}

async function createAnalyzer(language: Language): Promise<Analyzer> {
  if (language === "simple") return SIMPLE;
  const analyzer = new Analyzer(language, await loadWordRules(language));
  loaded.set(language, analyzer);
  return analyzer;
}

const SIMPLE = new Analyzer("simple", NO_RULES);
