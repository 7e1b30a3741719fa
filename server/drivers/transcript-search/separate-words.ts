/**
 * What the parser of PostgreSQL takes as parts of words: of names of files and hosts, of paths and of numbers. Tags and entities
 * it leaves out. The function `session_entry_words` replaces the same characters with spaces, so that only letters and digits
 * are parts of words.
 */
export const JOINING_CHARACTERS = "./-<+&~";

const JOINING = /[./<+&~]/g;
/** Before a word, a hyphen excludes it. Two hyphens do not, as in the name of an option. */
const HYPHEN = /(?<![\s"]|^)-|-(?=-)/g;
const HYPHEN_IN_PHRASE = /-/g;
/** PostgreSQL takes the words around it as a phrase. */
const PHRASE = "_";

/** Separates the words of a query as those of the contents. Words that were joined, such as `notes.txt`, become a phrase. */
export function separateWords(query: string): string {
  const parts = query.split('"');
  const hyphenIn = (index: number): RegExp => (index % 2 === 0 ? HYPHEN : HYPHEN_IN_PHRASE);
  return parts.map((part, index) => part.replaceAll(JOINING, PHRASE).replaceAll(hyphenIn(index), PHRASE)).join('"');
}
