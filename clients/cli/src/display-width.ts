/** Characters that move the cursor by two columns: East Asian Wide and Fullwidth (Unicode Annex 11), and pictographs. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
/** Characters that do not move the cursor: combining marks, variation selectors and joiners. */
const ZERO = /[\p{M}\u200b-\u200f\u2060]/u;
/** Texts of such characters alone are as wide as they are long. */
const NARROW = /^[\u0020-\u02ff]*$/;

/** How many columns of a terminal a text fills. */
export function displayWidth(text: string): number {
  if (NARROW.test(text)) return text.length;
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
  if (ZERO.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}
