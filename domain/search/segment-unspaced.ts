import type { Language } from "./languages.ts";

const LOCALES: Partial<Record<Language, string>> = { chinese: "zh", japanese: "ja" };
/** In Japanese, particles, endings and auxiliary verbs. */
const HIRAGANA_ONLY = /^\p{Script=Hiragana}+$/u;

const segmenters = new Map<string, Intl.Segmenter>();

/**
 * Separates the words of a query in Chinese or Japanese by spaces, so that no pair of characters belongs to two words. The words
 * of texts are not separated: what the index contains does not depend on the version of ICU.
 */
export function segmentUnspaced(text: string, language: Language): string {
  const locale = LOCALES[language];
  if (locale === undefined) return text;
  const segmenter = segmenters.get(locale) ?? new Intl.Segmenter(locale, { granularity: "word" });
  segmenters.set(locale, segmenter);
  return [...segmenter.segment(text)]
    .map(({ segment }) => segment)
    .filter((segment) => language !== "japanese" || !HIRAGANA_ONLY.test(segment))
    .join(" ");
}
