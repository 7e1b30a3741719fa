import { loadAnalyzer } from "../search/analyzer.ts";
import { detectLanguage } from "../search/detect-language.ts";
import type { Language } from "../search/languages.ts";

/** The language that was stated for a document. `auto`: each passage has the language in which it is written. */
export type DocumentLanguage = Language | "auto";

/** A text of a language has at least so many stop words. Names, code and tables have fewer. */
const MIN_STOP_WORDS = 0.2;
/** A shorter passage says little about its language, and has that of its document. */
const MIN_LETTERS = 60;
/** The characters of a passage whose words are counted. */
const MAX_CHARACTERS = 600;
/** The passages that tell the language of a document. */
const SAMPLES = 8;
/** For a document that does not say its language, such as a list of numbers. */
const DEFAULT: Language = "english";

/** Returns the language of each passage of a document. */
export async function findLanguages(
  stated: DocumentLanguage,
  passages: readonly { heading: string; content: string }[],
): Promise<Language[]> {
  if (stated !== "auto") return passages.map(() => stated);
  const texts = passages.map(({ heading, content }) => toProse(`${heading}\n${content}`));
  const main = await findMain(texts);
  return Promise.all(texts.map((text) => findLanguage(text, main)));
}

/** Returns the language of most of the text. */
async function findMain(texts: readonly string[]): Promise<Language> {
  const longest = texts.toSorted((a, b) => b.length - a.length).slice(0, SAMPLES);
  const votes = new Map<Language, number>();
  for (const text of longest) {
    const language = (await hasStopWords(text, DEFAULT)) ? DEFAULT : await detectLanguage(text);
    if (language === null) continue;
    const isCertain = countLetters(text) >= MIN_LETTERS || isUnspaced(language) || (await hasStopWords(text, language));
    if (isCertain) votes.set(language, (votes.get(language) ?? 0) + text.length);
  }
  const [best] = [...votes].toSorted(([, a], [, b]) => b - a);
  return best?.[0] ?? DEFAULT;
}

/** The stop words of the document are counted first, because the detector is slower and loaded only for documents that need it. */
async function findLanguage(text: string, main: Language): Promise<Language> {
  if (countLetters(text) < MIN_LETTERS || (await hasStopWords(text, main))) return main;
  const detected = await detectLanguage(text);
  return detected !== null && (isUnspaced(detected) || (await hasStopWords(text, detected))) ? detected : main;
}

function isUnspaced(language: Language): boolean {
  return language === "chinese" || language === "japanese";
}

async function hasStopWords(text: string, language: Language): Promise<boolean> {
  const { words, stopWords } = (await loadAnalyzer(language)).countStopWords(text);
  return words > 0 && stopWords >= MIN_STOP_WORDS * words;
}

function countLetters(text: string): number {
  return text.match(/\p{L}/gu)?.length ?? 0;
}

/** Leaves out code and addresses, which are in no language. */
function toProse(text: string): string {
  return text
    .slice(0, 2 * MAX_CHARACTERS)
    .replaceAll(/^```[\s\S]*?(?:^```|$(?![\s\S]))|`[^`\n]*`|\bhttps?:\S+|[#|*_>[\]()-]+/gm, " ")
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, MAX_CHARACTERS);
}
