const MAX_CHARACTERS = 100;
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Makes a title of a text: its first line with text, without hidden characters. @returns `null` for a text without any */
export function toTitle(text: string): string | null {
  for (const line of text
    .toWellFormed()
    .slice(0, MAX_SEARCHED)
    .split(/[\r\n\u2028\u2029]/)) {
    const plain = line.replaceAll("\t", " ").replace(HIDDEN, "").trim();
    if (plain === "") continue;
    return plain.length <= MAX_CHARACTERS ? plain : `${cut(plain).trim()}…`;
  }
  return null;
}

const MAX_SEARCHED = 10_000;

/** A cut between the halves of a surrogate pair would leave one that is not well-formed. */
function cut(text: string): string {
  const end = MAX_CHARACTERS - 1;
  return text.slice(0, /[\uD800-\uDBFF]/.test(text[end - 1] ?? "") ? end - 1 : end);
}
