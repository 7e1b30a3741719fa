/** The languages of texts. `simple` is for texts of no one language: no stemming, no stop words. */
export const LANGUAGES = [
  "english",
  "simple",
  "arabic",
  "armenian",
  "bulgarian",
  "danish",
  "dutch",
  "finnish",
  "french",
  "german",
  "greek",
  "hindi",
  "hungarian",
  "indonesian",
  "irish",
  "italian",
  "lithuanian",
  "nepali",
  "norwegian",
  "portuguese",
  "romanian",
  "russian",
  "sanskrit",
  "serbian",
  "spanish",
  "swedish",
  "tamil",
  "turkish",
  "ukrainian",
  "chinese",
  "japanese",
] as const;

export type Language = (typeof LANGUAGES)[number];

/** ISO 639-1 codes. */
const CODES = {
  arabic: "ar",
  armenian: "hy",
  bulgarian: "bg",
  danish: "da",
  dutch: "nl",
  english: "en",
  finnish: "fi",
  french: "fr",
  german: "de",
  greek: "el",
  hindi: "hi",
  hungarian: "hu",
  indonesian: "id",
  irish: "ga",
  italian: "it",
  lithuanian: "lt",
  nepali: "ne",
  norwegian: "no",
  portuguese: "pt",
  romanian: "ro",
  russian: "ru",
  sanskrit: "sa",
  serbian: "sr",
  spanish: "es",
  swedish: "sv",
  tamil: "ta",
  turkish: "tr",
  ukrainian: "uk",
  chinese: "zh",
  japanese: "ja",
} satisfies Record<Exclude<Language, "simple">, string>;

export function codeOf(language: Exclude<Language, "simple">): string {
  return CODES[language];
}

/** Returns `null` for a language without rules. */
export function languageOfCode(code: string): Exclude<Language, "simple"> | null {
  const languages = Object.keys(CODES) as (keyof typeof CODES)[];
  return languages.find((language) => CODES[language] === code) ?? null;
}

/**
 * Returns what the terms of a language begin with in the index, so that they are counted apart from those of other languages:
 * `die` is rare in English and frequent in German. English and `simple` have none.
 */
export function prefixOf(language: Language): string {
  return language === "english" || language === "simple" ? "" : `${CODES[language]}:`;
}

/** Returns the part of a term of the index that says its language. No word contains a colon. */
export function prefixOfTerm(term: string): string {
  return term.slice(0, term.indexOf(":") + 1);
}
