import { findSentences, type TextRange, trimRange } from "../documents/find-sentences.ts";
import { findUnits } from "../documents/split-passages.ts";

/** A sentence of a passage, or a row of a table. */
export interface Sentence {
  /** Stands literally in the passage, without the marks of lists and headings. */
  quote: string;
  /** The first row of the table, if it names the columns of this row. */
  header: string | null;
}

const SEPARATOR = /^[|\s:-]+$/;
/** Ends a table. */
const BLANK_LINE = /\n\s*\n/;

/** Returns the sentences of a passage and the rows of its tables. The row that names the columns is left out. */
export function listSentences(content: string): Sentence[] {
  const sentences: Sentence[] = [];
  let table: TextRange[] = [];
  for (const unit of findUnits(content, { start: 0, end: content.length })) {
    const isRow = content.charAt(unit.start) === "|";
    const last = table.at(-1);
    if (last !== undefined && (!isRow || BLANK_LINE.test(content.slice(last.end, unit.start)))) {
      sentences.push(...listRows(content, table));
      table = [];
    }
    if (isRow) table.push(...splitLines(content, unit));
    else if (!content.startsWith("```", unit.start) && !content.startsWith("~~~", unit.start))
      sentences.push(...findSentences(content, withoutMark(content, unit)).map((range) => toSentence(content, range)));
  }
  return [...sentences, ...listRows(content, table)].filter(({ quote }) => /[\p{L}\p{N}]/u.test(quote));
}

function splitLines(content: string, { start, end }: TextRange): TextRange[] {
  const lines = content.slice(start, end).matchAll(/[^\n]+/g);
  return [...lines].map(({ 0: line, index }) => ({ start: start + index, end: start + index + line.length }));
}

function listRows(content: string, ranges: readonly TextRange[]): Sentence[] {
  const rows = ranges.map((range) => toSentence(content, range));
  const [first, ...others] = rows;
  if (
    first === undefined ||
    !isHeader(
      first.quote,
      others.map(({ quote }) => quote),
    )
  )
    return rows;
  return others.map(({ quote }) => ({ quote, header: first.quote }));
}

/** Markdown has a line below the header. The tables of other files have a header if it is the only row without a number. */
function isHeader(first: string, others: readonly string[]): boolean {
  const [second] = others;
  if (second === undefined) return false;
  if (SEPARATOR.test(second)) return true;
  return !/\d/.test(first) && others.every((row) => /\d/.test(row));
}

function toSentence(content: string, { start, end }: TextRange): Sentence {
  return { quote: content.slice(start, end), header: null };
}

function withoutMark(content: string, { start, end }: TextRange): TextRange {
  const mark = /^(?:[-*+]|\d{1,9}[.)]|#{1,6}|>)\s/.exec(content.slice(start, end))?.[0] ?? "";
  return trimRange(content, { start: start + mark.length, end });
}

/** Writes the name of each column before its cell. Returns the row alone if it has another number of cells than the header. */
export function nameCells({ quote, header }: Sentence): string {
  if (header === null) return quote;
  const [names, cells] = [cellsOf(header), cellsOf(quote)];
  if (names.length !== cells.length) return quote;
  return cells.map((cell, index) => (names[index] ? `${names[index]}: ${cell}` : cell)).join(" | ");
}

function cellsOf(row: string): string[] {
  return row
    .replaceAll(/^\||\|$/g, "")
    .split("|")
    .map((cell) => cell.trim());
}
