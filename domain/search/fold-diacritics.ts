/** Marks of Latin, Greek and Cyrillic letters, vowel signs of Arabic and Hebrew. Other scripts have marks that are letters. */
const MARKS = /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]|\u0640/g;
/** Letters that Unicode does not decompose. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "d",
  þ: "th",
  ł: "l",
  ħ: "h",
  ı: "i",
};
const UNDECOMPOSED = /[ßæœøđðþłħı]/g;
// oxlint-disable-next-line no-control-regex -- the pattern matches ASCII
const ASCII = /^[\u0000-\u007f]*$/;

/** Removes the diacritics of a word in lower case: `café` becomes `cafe`. */
export function foldDiacritics(word: string): string {
  if (ASCII.test(word)) return word;
  return word
    .normalize("NFD")
    .replaceAll(MARKS, "")
    .normalize("NFC")
    .replaceAll(UNDECOMPOSED, (letter) => LETTERS[letter] ?? letter);
}
