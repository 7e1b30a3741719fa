/**
 * The languages of texts. The first one is the default. `simple` is for texts of no one language: no stemming, no stop words.
 * The order is stored as bits in the scopes: append new languages at the end.
 */
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
] as const;

export type Language = (typeof LANGUAGES)[number];

/** Returns a set of languages as an integer with one bit for each language. */
export function languageBits(languages: Iterable<Language>): number {
  let bits = 0;
  for (const language of languages) bits |= 1 << LANGUAGES.indexOf(language);
  return bits;
}

export function languagesOf(bits: number): Language[] {
  return LANGUAGES.filter((_, index) => (bits & (1 << index)) !== 0);
}
