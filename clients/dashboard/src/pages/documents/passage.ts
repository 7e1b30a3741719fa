/** A quote with the text around it. */
export interface Passage {
  before: string;
  quote: string;
  after: string;
  /** The headings above it, the outermost first. */
  headings: string[];
}

/** How much of the paragraph is shown before and after the quote, in UTF-16 code units. */
const AROUND = 240;

/** Finds a quote in a text with Markdown; `null` when the text does not have it. */
export function findPassage(content: string, quote: string): Passage | null {
  const start = quote === "" ? -1 : content.indexOf(quote);
  if (start === -1) return null;
  const before =
    content
      .slice(0, start)
      .split(/\n[ \t]*\n/)
      .at(-1) ?? "";
  const after = content.slice(start + quote.length).split(/\n[ \t]*\n/, 1)[0] ?? "";
  return {
    before: before.length > AROUND ? `…${before.slice(-AROUND).replace(/^\S*/, "")}` : before.trimStart(),
    quote,
    after: after.length > AROUND ? `${after.slice(0, AROUND).replace(/\S*$/, "")}…` : after.trimEnd(),
    headings: headingsAbove(content.slice(0, start)),
  };
}

const HEADING = /^ {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/;
const FENCE = /^ {0,3}(?:`{3}|~{3})/;

function headingsAbove(text: string): string[] {
  const headings: { level: number; title: string }[] = [];
  let isCode = false;
  for (const line of text.split("\n")) {
    if (FENCE.test(line)) isCode = !isCode;
    const [, marks = "", title = ""] = (!isCode && HEADING.exec(line)) || [];
    if (title === "") continue;
    while ((headings.at(-1)?.level ?? 0) >= marks.length) headings.pop();
    headings.push({ level: marks.length, title });
  }
  return headings.map(({ title }) => title.replaceAll(/[*_`]/g, ""));
}

/** Begin and end of a quote in a text. Both are no characters of Unicode, so that no text has them. */
export const QUOTE_BEGIN = "\uFDD0";
export const QUOTE_END = "\uFDD1";

const SIGNS = new RegExp(`[${QUOTE_BEGIN}${QUOTE_END}]`, "g");
export const withoutSigns = (text: string): string => text.replaceAll(SIGNS, "");

/** The marks of Markdown at the beginning of a line, those at its end, and a line that has nothing else. */
const LEADING = /^[\s>|#*_~`+-]*(?:\d+[.)]\s+)?[*_~`]*/;
const TRAILING = /[\s|*_~`]*$/;
const ONLY_MARKS = /^[\s>|:#*_~`=+-]*$/;

/** Puts signs around a quote: around each of its lines, inside the marks of Markdown, which keep their meaning. */
export function signQuote(content: string, quote: string): string {
  const text = withoutSigns(content);
  const start = quote === "" ? -1 : text.indexOf(quote);
  if (start === -1) return text;
  const signed = quote.split("\n").map(signLine).join("\n");
  return text.slice(0, start) + signed + text.slice(start + quote.length);
}

function signLine(line: string): string {
  if (FENCE.test(line) || ONLY_MARKS.test(line)) return line;
  const from = LEADING.exec(line)?.[0].length ?? 0;
  const to = line.search(TRAILING);
  return line.slice(0, from) + QUOTE_BEGIN + line.slice(from, to) + QUOTE_END + line.slice(to);
}
