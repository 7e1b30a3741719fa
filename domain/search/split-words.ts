/** A word of a text. */
export interface Word {
  /** In lower case, at most `MAX_WORD_LENGTH` UTF-16 code units. */
  text: string;
  /** The number of the word in the text. The parts of an identifier have consecutive numbers; the whole has that of its first part. */
  position: number;
  /**
   * `word`: as it is, or a part of an identifier. `whole`: an identifier or a hyphenated word without its separators.
   * `contraction`: a word with an apostrophe, which the words between the apostrophes follow. `pair`: two consecutive characters of
   * a script without spaces. `character`: one of them.
   */
  kind: "word" | "whole" | "contraction" | "pair" | "character";
  /** Whether the text writes it in capitals, but not all other words. */
  isAcronym: boolean;
}

const MAX_WORD_LENGTH = 40;
/** An identifier of more parts is a path or a key, which is never written as one word. */
const MAX_PARTS_OF_WHOLE = 3;

const LETTER = String.raw`[\p{L}\p{N}\p{M}]`;
/** Words joined by apostrophes, hyphens or underscores. */
const CHUNK = new RegExp(`${LETTER}+(?:['\u2019\u2010_-]${LETTER}+)*`, "gu");
const THOUSANDS_SEPARATOR = /(?<=\p{Nd}),(?=\p{Nd}{3}(?!\p{Nd}))/gu;
/** Soft hyphens, spaces without width and similar characters, which are in a word without being seen. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}+/gu;
const PLAIN_WORD = /^\p{L}?[\p{Ll}\p{Lo}\p{M}]+$|^\p{N}+$|^\p{L}$/u;
const POSSESSIVE = /['\u2019][sS]$/;
const CONTRACTION = /^[\p{L}\p{M}]+['\u2019][\p{L}\p{M}]+$/u;
const SEPARATOR = /['\u2019\u2010_-]/u;
/** `createInvoice`, `HTTPServer`, `ISO9001`. A single letter or digit, as in `Q3` and `mp3`, is not a part. */
const BOUNDARY =
  /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=\p{L}{2})(?=\p{N}{2})|(?<=\p{N}{2})(?=\p{L}{2})/u;
const LOWER_CASE = /\p{Ll}/u;
const CAPITALS = /^\p{Lu}{2,}$/u;
const SINGLE_LETTER = /^\p{L}\p{M}*$/u;
/** Scripts that do not separate words with spaces, and Korean, whose words include particles. */
const UNSPACED = String.raw`\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Bopo}\p{scx=Hang}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}\p{scx=Java}\p{scx=Bali}`;
const HAS_UNSPACED = new RegExp(`[${UNSPACED}]`, "u");
const RUNS = new RegExp(`(?:(?=${LETTER})[${UNSPACED}]\\p{M}*)+|(?:(?![${UNSPACED}])${LETTER})+`, "gu");
const CHARACTER = /\P{M}\p{M}*|\p{M}+/gu;

/**
 * Splits a text into words, which are letters and digits of any script. Identifiers and hyphenated words are split into their
 * parts too: `createInvoice` has the words `create`, `invoice` and `createinvoice`. The result depends on the text only.
 */
export function splitWords(text: string): Word[] {
  const splitter = new WordSplitter(LOWER_CASE.test(text));
  const normalized = text.normalize("NFKC").replaceAll(INVISIBLE, "").replaceAll(THOUSANDS_SEPARATOR, "");
  for (const [chunk] of normalized.matchAll(CHUNK)) splitter.addChunk(chunk);
  return splitter.words;
}

class WordSplitter {
  readonly words: Word[] = [];
  readonly #hasLowerCase: boolean;
  #position = 0;

  constructor(hasLowerCase: boolean) {
    this.#hasLowerCase = hasLowerCase;
  }

  addChunk(chunk: string): void {
    if (!HAS_UNSPACED.test(chunk)) return this.#addSpaced(chunk);
    for (const [run] of chunk.matchAll(RUNS)) {
      if (HAS_UNSPACED.test(run)) this.#addUnspaced(run);
      else this.#addSpaced(run);
    }
  }

  #addSpaced(chunk: string): void {
    if (PLAIN_WORD.test(chunk)) return this.#addWord(chunk);
    const word = chunk.replace(POSSESSIVE, "");
    if (CONTRACTION.test(word)) return this.#addContraction(word);
    const parts = word.split(SEPARATOR).flatMap((part) => part.split(BOUNDARY));
    if (parts.length === 1) return this.#addWord(word);
    const hasWhole = parts.length <= MAX_PARTS_OF_WHOLE && /^\p{L}/u.test(word);
    if (hasWhole) this.#push(parts.join(""), "whole");
    for (const part of parts) if (!hasWhole || !SINGLE_LETTER.test(part)) this.#addWord(part);
  }

  /** Only the language tells whether it is one word, as `don't`, or two, as `l'accord`. */
  #addContraction(word: string): void {
    this.#push(word.replace("\u2019", "'"), "contraction");
    for (const part of word.split(SEPARATOR)) if (!SINGLE_LETTER.test(part)) this.#addWord(part);
  }

  #addUnspaced(run: string): void {
    const characters = [...run.matchAll(CHARACTER)].map(([character]) => character);
    for (const [index, character] of characters.entries()) {
      this.#push(character, "character");
      const next = characters[index + 1];
      if (next !== undefined) this.#push(character + next, "pair");
      this.#position += 1;
    }
  }

  #addWord(word: string): void {
    this.#push(word, "word");
    this.#position += 1;
  }

  #push(word: string, kind: Word["kind"]): void {
    const isAcronym = this.#hasLowerCase && CAPITALS.test(word);
    this.words.push({ text: shorten(word.toLowerCase()), position: this.#position, kind, isAcronym });
  }
}

/** Never leaves half of a surrogate pair, which PostgreSQL does not store. */
function shorten(word: string): string {
  return word.length <= MAX_WORD_LENGTH ? word : word.slice(0, MAX_WORD_LENGTH).replace(/[\ud800-\udbff]$/, "");
}
