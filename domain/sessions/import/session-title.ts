import { truncateText } from "../../shared/response-budget.ts";

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
    return plain.length <= MAX_CHARACTERS ? plain : `${truncateText(plain, MAX_CHARACTERS - 1).trim()}…`;
  }
  return null;
}

const MAX_SEARCHED = 10_000;
