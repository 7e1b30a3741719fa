import { loadAnalyzer } from "./analyzer.ts";
import { detectLanguage } from "./detect-language.ts";
import type { Language } from "./languages.ts";

/** Languages with so many stop words fewer than the most are decided by the detector: `a`, `de` and `que` are in many. */
const NEAR = 2;
/** The characters of a query that tell its language. */
const MAX_CHARACTERS = 1000;

/**
 * Selects the language of a query among those of the texts: that with most of its words as stop words. Between
 * similar ones, the detector decides, and without its result the language with most texts.
 *
 * @param languages - that with most texts first
 */
export async function selectLanguage(text: string, languages: readonly Language[]): Promise<Language> {
  const candidates = languages.filter((language) => language !== "simple");
  const [first = "english", ...others] = candidates;
  if (others.length === 0) return first;
  const query = text.slice(0, MAX_CHARACTERS);
  const counted = await Promise.all(
    candidates.map(async (language) => ({
      language,
      count: (await loadAnalyzer(language)).countStopWords(query).stopWords,
    })),
  );
  const most = Math.max(...counted.map(({ count }) => count));
  const ordered = counted.toSorted((a, b) => b.count - a.count);
  const best = ordered.filter(({ count }) => count >= most - NEAR).map(({ language }) => language);
  const [only = first, ...equal] = best;
  if (equal.length === 0) return only;
  return (await detectLanguage(query, best)) ?? only;
}
