import type { Excerpt } from "../../../domain/ports/transcript-search.ts";
import { truncateText } from "../../../domain/shared/response-budget.ts";

/** They surround each match in a text that PostgreSQL has marked. */
export const MATCH_START = "\u0001";
export const MATCH_END = "\u0002";

/** Of the text, in UTF-16 code units. */
const MAX_LENGTH = 400;
/** How much of a longer text is shown before the first match. */
const BEFORE_MATCH = 100;

/**
 * Returns a text with its matches. A text that is too long is cut around the first match.
 *
 * @param marked - the text with a mark before and after each match; its other characters are not read
 */
export function toExcerpt(text: string, marked: string): Excerpt {
  const matches: Excerpt["matches"] = [];
  let length = 0;
  for (const part of marked.split(MATCH_START)) {
    const end = part.indexOf(MATCH_END);
    if (end > 0) matches.push({ start: length, end: length + end });
    length += part.length - (end < 0 ? 0 : MATCH_END.length);
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
