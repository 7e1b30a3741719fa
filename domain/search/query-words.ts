import { loadAnalyzer } from "./analyzer.ts";
import { foldDiacritics } from "./fold-diacritics.ts";
import type { Language } from "./languages.ts";
import { splitWords, type Word } from "./split-words.ts";

/** A word of a query. */
export interface QueryWord {
  /** As the caller wrote it, without case and diacritics. */
  text: string;
  /** What it is in the index: one term for each language, if they differ. */
  terms: readonly string[];
  /** Whether it is a stop word in one of the languages, so that it says little. */
  isStopWord: boolean;
}

const MAX_CHARACTERS = 10_000;
const MAX_WORDS = 1024;

/** Reads the different words of a query that are not stop words in all of the languages, at most 1,024. */
export async function readQueryWords(text: string, languages: readonly Language[]): Promise<QueryWord[]> {
  const words = withoutCharactersOfPairs(splitWords(text.slice(0, MAX_CHARACTERS)));
  const analyzers = await Promise.all(languages.map(loadAnalyzer));
  const terms = analyzers.map((analyzer) => analyzer.toTerms(words));
  const found = new Map<string, QueryWord>();
  for (const [index, word] of words.entries()) {
    const inLanguages = terms.map((ofLanguage) => ofLanguage[index] ?? null);
    const ofWord = new Set(inLanguages.filter((term) => term !== null));
    const key = [...ofWord].join(" ");
    if (key === "" || found.has(key)) continue;
    found.set(key, { text: foldDiacritics(word.text), terms: [...ofWord], isStopWord: inLanguages.includes(null) });
    if (found.size === MAX_WORDS) break;
  }
  return [...found.values()];
}

/** Two characters together say more than each of them. */
function withoutCharactersOfPairs(words: readonly Word[]): Word[] {
  const paired = new Set(words.flatMap(({ kind, position }) => (kind === "pair" ? [position, position + 1] : [])));
  return words.filter(({ kind, position }) => kind !== "character" || !paired.has(position));
}
