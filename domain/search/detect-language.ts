import { codeOf, type Language, languageOfCode } from "./languages.ts";

/** The detector takes a millisecond for so many characters, and much longer for more. */
const MAX_CHARACTERS = 240;
/** The detector has one code for both written forms of Norwegian. */
const NORWEGIAN = "nb";

/**
 * Detects the language of a text by its letters. It reads the beginning of the text only.
 *
 * @param among - the languages that it can be; by default all that the detector knows
 * @returns `simple` for a language without rules; `null` when the text says nothing about its language
 */
export async function detectLanguage(text: string, among?: readonly Language[]): Promise<Language | null> {
  const { detect } = await import("tinyld/light");
  const codes = among?.flatMap((language) => (language === "simple" ? [] : [codeOf(language)]));
  const code = detect(text.slice(0, MAX_CHARACTERS), codes && { only: codes });
  if (code === "") return null;
  return languageOfCode(code === NORWEGIAN ? "no" : code) ?? "simple";
}
