import { type TextRange, trimRange } from "../documents/find-sentences.ts";

/** What a paragraph of Markdown, an item or a block of code is. */
export type Kind = "row" | "code" | "item" | "definition" | "noise" | "text";

const ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])\s/;
const ROW = /^\||^[^|\n]*[^|\s][^|\n]*\|.*\n\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)+(?:\n|$)/;

/** A unit that has only marks of a generator of sites, tags, targets of links, or statements of MDX. */
const NOISE =
  /^(?:\{%[^%]{0,500}%\}|\{\{[<%][^{}]{0,500}[>%]\}\}|<\/?[A-Za-z][^<>]{0,500}>|<!--[^<>]{0,1000}-->|:{3,}[^\n]*|\[[^[\]\n]+\]:[^\n]*|import\s[^\n]*["'][^\n]*|\s)+$/;

/** The mark of a question or an answer, such as `**Q:**`. */
const Q = String.raw`(?:\*\*|__)?(?:Q|Question)\s?(?:\d{0,3}:|\d{1,3}\.)(?:\*\*|__)?\s*`;
const A = String.raw`(?:\*\*|__)?(?:A|Answer)\s?(?:\d{0,3}:|\d{1,3}\.)(?:\*\*|__)?\s*`;
const MARK = new RegExp(String.raw`^\s*(?:(?:[-*+]|\d{1,9}[.)]|#{1,6}|>|:)\s+)*(?:(?:${Q}|${A})(?=\S))?`);
const ANSWER = new RegExp(String.raw`\s${A}(?=\S)`);

export function kindOf(unit: string): Kind {
  if (/^\s*(?:`{3}|~{3})/.test(unit)) return "code";
  if (ROW.test(unit)) return "row";
  if (NOISE.test(unit)) return "noise";
  if (/^:\s/.test(unit)) return "definition";
  return ITEM.test(unit) ? "item" : "text";
}

/** Returns a unit without the marks of lists, headings, definitions, questions and answers before it. */
export function withoutMark(content: string, { start, end }: TextRange): TextRange {
  const mark = MARK.exec(content.slice(start, end))?.[0] ?? "";
  return trimRange(content, { start: start + mark.length, end });
}

/** Reads a unit that has a question and its answer. Returns `null` for any other unit. */
export function readQuestion(content: string, unit: TextRange): { text: string; answer: TextRange } | null {
  const { start, end } = withoutMark(content, unit);
  const text = content.slice(start, end);
  const marked = ANSWER.exec(text);
  const bold = /^(?:\*\*|__)[^\n]{1,300}\?(?:\*\*|__)[ \t]*\n/.exec(text);
  const until = marked?.index ?? bold?.[0].length;
  if (until === undefined || (marked === null && bold === null)) return null;
  const question = plainLine(text.slice(0, until));
  if (!question.endsWith("?")) return null;
  return { text: question, answer: trimRange(content, { start: start + until + (marked?.[0].length ?? 0), end }) };
}

/** Returns a line without emphasis and with single spaces. */
export function plainLine(text: string): string {
  return text
    .replaceAll(/\*\*|__/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}
