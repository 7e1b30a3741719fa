import { sha256Hex } from "../shared/sha256.ts";

/** Equal hashes mean equal texts in one of two senses. */
export interface TextHashes {
  /** Of texts that differ only in case, spaces, the form of characters, and punctuation around words. */
  contentHash: string;
  /** Of texts that differ moreover only in words without meaning, a plural or a contraction. */
  meaningHash: string;
}

export function hashText(content: string): TextHashes {
  const words = normalizeText(content);
  return { contentHash: sha256Hex(words.join(" ")), meaningHash: sha256Hex(meaningOf(words).join(" ")) };
}

/**
 * Returns the words of a text in lowercase without punctuation at their ends. What can change a value stays: `?`, signs,
 * percent and currency symbols, and all punctuation inside of words, such as `3.5`.
 */
function normalizeText(content: string): string[] {
  const text = foldCase(content.normalize("NFKC").replace(/\p{Cf}/gu, ""))
    .replace(/[\u2018\u2019\u02bc]/g, "'")
    .replace(/[\p{Pd}\u2212]/gu, "-")
    .replace(/\?/g, " ? ");
  return text.split(/\s+/u).map(trimWord).filter(Boolean);
}

/** `ß` and `SS`, and the two forms of a Greek sigma, become the same. */
function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase().normalize("NFKC");
}

const MARKS: ReadonlySet<string> = new Set(`.,;:!…"'“”„‘‚«»‹›()[]{}<>*_\x60¡¿、。「」『』`);
const BEGINS_WITH_NUMBER = /^\p{N}/u;

/** Character by character, because a pattern for the marks at the end would begin again at each mark inside of the word. */
function trimWord(word: string): string {
  let start = 0;
  let end = word.length;
  while (start < end && (MARKS.has(word.charAt(start)) || isDash(word, start))) start += 1;
  while (end > start && (MARKS.has(word.charAt(end - 1)) || word.charAt(end - 1) === "-")) end -= 1;
  return word.slice(start, end);
}

/** A minus before a number is its sign. */
function isDash(word: string, at: number): boolean {
  return word.charAt(at) === "-" && !BEGINS_WITH_NUMBER.test(word.slice(at + 1, at + 3));
}

/** Words that no statement depends on. A word with an opposite, such as `not`, `was` or `before`, is not among them. */
const WITHOUT_MEANING: ReadonlySet<string> = new Set([
  "a",
  "an",
  "the",
  "is",
  "are",
  "be",
  "that",
  "of",
  "please",
  "also",
]);
const LEAD_IN = /^(?:please )?(?:note|remember|keep in mind|fyi)(?: that)? (?=\S+ )/;
const CONTRACTIONS: readonly [RegExp, string][] = [
  [/^cannot$|^can't$/, "can not"],
  [/^won't$/, "will not"],
  [/n't$/, " not"],
  [/'re$/, " are"],
  [/'ll$/, " will"],
  [/'ve$/, " have"],
  [/'m$/, " am"],
  [/'s$|'$/, ""],
];

function meaningOf(words: readonly string[]): string[] {
  const expanded = words.join(" ").replace(LEAD_IN, "").split(" ").flatMap(expand);
  const meaning = expanded.filter((word) => !WITHOUT_MEANING.has(word)).map(toSingular);
  return meaning.length === 0 ? expanded : meaning;
}

function expand(word: string): string[] {
  const expanded = CONTRACTIONS.reduce((text, [contraction, words]) => text.replace(contraction, words), word);
  // `e-mail` and `email`, but not the parts of a number or a date.
  return expanded.replace(/(?<=\p{L})-(?=\p{L})/gu, "").split(" ");
}

/**
 * The S-stemmer (D. Harman, How effective is suffixing?, 1991). Stronger stemmers also remove tenses. The euro is the only
 * common currency whose name stands for one code.
 */
function toSingular(word: string): string {
  if (/^euros?$/.test(word)) return "eur";
  if (!/^[a-z]{4,}$/.test(word)) return word;
  if (word.endsWith("ies")) return /[ae]ies$/.test(word) ? word : `${word.slice(0, -3)}y`;
  if (word.endsWith("es")) return /[aeo]es$/.test(word) ? word : word.slice(0, -1);
  return word.endsWith("s") && !/[us]s$/.test(word) ? word.slice(0, -1) : word;
}
