import { eastAsianWidth } from "get-east-asian-width";

/** Characters that do not move the cursor: combining marks, variation selectors and joiners. */
const ZERO = /[\p{M}\u200b-\u200f\u2060]/u;

/** How many columns of a terminal a text fills. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += columnsOf(character);
  return width;
}

/** Cuts a text that is wider than `width`, and ends it with `…`. */
export function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = "";
  let columns = 1;
  for (const character of text) {
    columns += columnsOf(character);
    if (columns > width) break;
    kept += character;
  }
  return `${kept}…`;
}

/** Fills a text with spaces up to `width`. */
export function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(width - displayWidth(text), 0));
}

function columnsOf(character: string): number {
  return ZERO.test(character) ? 0 : eastAsianWidth(character.codePointAt(0) ?? 0);
}
