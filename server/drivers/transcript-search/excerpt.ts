import type { Excerpt } from "../../../domain/ports/transcript-search.ts";
import { truncateText } from "../../../domain/shared/response-budget.ts";

/** They surround each match in the text of the database, which has removed them from the content. */
export const MATCH_START = "\u0001";
export const MATCH_END = "\u0002";

/** Of the text, in UTF-16 code units. */
const MAX_LENGTH = 400;
/** How much of a longer text is shown before the first match. */
const BEFORE_MATCH = 100;

/** Reads a text whose matches are marked. A text that is too long is cut around the first match. */
export function toExcerpt(marked: string): Excerpt {
  const matches: Excerpt["matches"] = [];
  let text = "";
  for (const part of marked.split(MATCH_START)) {
    const end = part.indexOf(MATCH_END);
    if (end > 0) matches.push({ start: text.length, end: text.length + end });
    text += part.replace(MATCH_END, "");
  }
  return cut(text, matches);
}

function cut(text: string, matches: Excerpt["matches"]): Excerpt {
  const first = matches[0]?.start ?? 0;
  const start = text.length > MAX_LENGTH ? wholeCharacter(text, Math.max(0, first - BEFORE_MATCH)) : 0;
  const shown = truncateText(text.slice(start), MAX_LENGTH);
  return {
    text: shown,
    matches: matches
      .map((match) => ({ start: match.start - start, end: Math.min(match.end - start, shown.length) }))
      .filter((match) => match.start < match.end),
  };
}

/** The beginning of the character at an index, which can be in the middle of a surrogate pair. */
function wholeCharacter(text: string, index: number): number {
  return /^[\uDC00-\uDFFF]/.test(text.slice(index, index + 1)) ? index + 1 : index;
}
