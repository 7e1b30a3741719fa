import { loadAnalyzer } from "./analyzer.ts";
import { foldDiacritics } from "./fold-diacritics.ts";
import type { Language } from "./languages.ts";
import { segmentUnspaced } from "./segment-unspaced.ts";
import { splitWords, type Word } from "./split-words.ts";

/** A word of a query. */
export interface QueryWord {
  /** As the caller wrote it, without case and diacritics. */
  text: string;
  /** What it is in the index, in the language of the query and in texts of no one language. */
  terms: readonly string[];
  /** What it is in texts of other languages. */
  otherTerms: readonly string[];
  /** Whether it is a stop word of the language, so that it says little. */
  isStopWord: boolean;
}

export interface QueryLanguages {
  /** The language of the query. */
  language: Language;
  /** The languages of the texts. */
  languages: readonly Language[];
}

const MAX_CHARACTERS = 10_000;
const MAX_WORDS = 1024;
/** A pronoun after its verb, as in `puis-je` and `a-t-il`: together they are no word. */
const INVERTED = /-(?:t-)?(?:je|tu|ils?|elles?|on|nous|vous|ce)(?!\p{L})/giu;
/** In these languages a word with an apostrophe is two words, as `l'accord`. */
const ELIDING: ReadonlySet<Language> = new Set(["french", "italian"]);

/** Reads the different words of a query that are not stop words of its language, at most 1,024. */
export async function readQueryWords(text: string, { language, languages }: QueryLanguages): Promise<QueryWord[]> {
  const beginning = text.slice(0, MAX_CHARACTERS);
  const separated = language === "french" ? beginning.replaceAll(INVERTED, " ") : beginning;
  const split = withoutCharactersOfPairs(splitWords(segmentUnspaced(separated, language)));
  const words = ELIDING.has(language) ? split.filter(({ kind }) => kind !== "contraction") : split;
  const own = [language, ...languages.filter((other) => other === "simple" && other !== language)];
  const ownTerms = await analyzeWords(words, own);
  const otherTerms = await analyzeWords(
    words,
    languages.filter((other) => !own.includes(other)),
  );
  const found = new Map<string, QueryWord>();
  for (const [index, word] of words.entries()) {
    const inOwn = ownTerms.map((terms) => terms[index] ?? null);
    const ofWord = new Set(inOwn.filter((term) => term !== null));
    const key = [...ofWord].join(" ");
    if (key === "" || found.has(key)) continue;
    const isStopWord = inOwn.includes(null);
    const others = isStopWord ? [] : otherTerms.flatMap((terms) => terms[index] ?? []);
    found.set(key, {
      text: foldDiacritics(word.text),
      terms: [...ofWord],
      otherTerms: [...new Set(others)].filter((term) => !ofWord.has(term)),
      isStopWord,
    });
    if (found.size === MAX_WORDS) break;
  }
  return [...found.values()];
}

async function analyzeWords(words: readonly Word[], languages: readonly Language[]): Promise<(string | null)[][]> {
  const analyzers = await Promise.all(languages.map(loadAnalyzer));
  return analyzers.map((analyzer) => analyzer.toTerms(words));
}

/** Two characters together say more than each of them. */
function withoutCharactersOfPairs(words: readonly Word[]): Word[] {
  const paired = new Set(words.flatMap(({ kind, position }) => (kind === "pair" ? [position, position + 1] : [])));
  return words.filter(({ kind, position }) => kind !== "character" || !paired.has(position));
}
