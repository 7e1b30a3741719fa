import { DOCUMENT_LIMITS } from "./document-limits.ts";
import { findSections, type Section, textStart } from "./find-sections.ts";
import { findSentences, type TextRange, trimRange } from "./find-sentences.ts";

/** A part of a document that the search finds as one text. */
export interface Passage extends TextRange {
  /** The headings above the passage, from the outermost one, separated by ` > `. */
  heading: string;
  /** The part of the document from `start` until before `end`. */
  content: string;
}

/** The longest passage, in characters: about 250 words of English. */
const MAX_LENGTH = 1500;

/** A line that begins an item of a list, a row of a table, a definition, a question or an answer. */
const ITEM = /^\s*(?:(?:[-*+:]|\d{1,9}[.)]|\|)(?:\s|$)|(?:\*\*|__)?(?:Q|A|Question|Answer)\s?(?:\d{0,3}:|\d{1,3}\.))/;
const FENCE = /^ {0,3}(?:`{3,}|~{3,})/;

/**
 * Splits Markdown along its headings unless there are too many, and long sections into passages of similar length. A passage ends at the end of a
 * paragraph, an item or a sentence, unless one sentence is longer than a passage.
 */
export function splitPassages(text: string): Passage[] {
  const sections = findSections(text);
  const toPassages = ({ path, body }: Section): Passage[] => {
    const heading = path.join(" > ");
    return packUnits(text, body).map((range) => ({ ...range, heading, content: text.slice(range.start, range.end) }));
  };
  const passages = sections.length > DOCUMENT_LIMITS.passages ? [] : sections.flatMap(toPassages);
  if (passages.length > 0 && passages.length <= DOCUMENT_LIMITS.passages) return passages;
  // Of this length, half of the passages of the longest text have room for two.
  return toPassages({ path: [], body: trimRange(text, { start: textStart(text), end: text.length }) });
}

/** Joins paragraphs, items and sentences to passages of similar length. */
function packUnits(text: string, body: TextRange): TextRange[] {
  const length = body.end - body.start;
  if (length <= MAX_LENGTH) return [body];
  const target = length / Math.ceil(length / MAX_LENGTH);
  const passages: TextRange[] = [];
  for (const unit of joinTables(text, findUnits(text, body)).flatMap((range) => splitLong(text, range))) {
    const last = passages.at(-1);
    const fits = last !== undefined && last.end - last.start < target && unit.end - last.start <= MAX_LENGTH;
    if (fits) last.end = unit.end;
    else passages.push({ ...unit });
  }
  return passages;
}

/** Returns the paragraphs, the items of lists and the rows of tables. A block of code is one unit. */
export function findUnits(text: string, { start, end }: TextRange): TextRange[] {
  const units: TextRange[] = [];
  let open: TextRange | null = null;
  let isCode = false;
  for (let from = start; from < end;) {
    const found = text.indexOf("\n", from);
    const until = found < 0 || found > end ? end : found;
    const line = text.slice(from, until);
    const isFence = FENCE.test(line);
    if (!isCode && (line.trim() === "" || isFence || ITEM.test(line))) open = null;
    if (open !== null) open.end = until;
    else if (line.trim() !== "") units.push((open = { start: from, end: until }));
    if (isFence) {
      if (isCode) open = null;
      isCode = !isCode;
    }
    from = until + 1;
  }
  return units.map((unit) => trimRange(text, unit));
}

/** Joins the rows of each table that fits into one passage: a row is understood with the names of its columns. */
function joinTables(text: string, units: readonly TextRange[]): TextRange[] {
  const joined: TextRange[] = [];
  for (const unit of units) {
    const table = joined.at(-1);
    const isNext =
      table !== undefined &&
      text.charAt(unit.start) === "|" &&
      text.charAt(table.start) === "|" &&
      unit.end - table.start <= MAX_LENGTH &&
      !/\n\s*\n/.test(text.slice(table.end, unit.start));
    if (isNext) table.end = unit.end;
    else joined.push({ ...unit });
  }
  return joined;
}

function splitLong(text: string, unit: TextRange): TextRange[] {
  if (unit.end - unit.start <= MAX_LENGTH) return [unit];
  return findSentences(text, unit).flatMap((sentence) => [...splitAtSpaces(text, sentence)]);
}

function* splitAtSpaces(text: string, { start, end }: TextRange): Generator<TextRange> {
  let from = start;
  while (end - from > MAX_LENGTH) {
    const space = text.slice(from, from + MAX_LENGTH).lastIndexOf(" ");
    const isPair = /[\uD800-\uDBFF]/.test(text.charAt(from + MAX_LENGTH - 1));
    const until = space > 0 ? from + space : from + MAX_LENGTH - (isPair ? 1 : 0);
    yield { start: from, end: until };
    from = until + (space > 0 ? 1 : 0);
  }
  if (from < end) yield { start: from, end };
}
