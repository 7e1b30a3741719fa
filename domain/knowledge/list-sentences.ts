import { findSentences, type TextRange, trimRange } from "../documents/find-sentences.ts";
import { findUnits } from "../documents/split-passages.ts";
import { type Context, ContextReader } from "./sentence-context.ts";
import { type Kind, kindOf, readQuestion, withoutMark } from "./sentence-units.ts";

/** A sentence of a passage, a row of a table, or a piece of code. */
export interface Sentence {
  /** Stands literally in the passage, without the marks of lists and headings. */
  quote: string;
  /**
   * What the sentence belongs to: the row that names its columns, the question that it answers, the term that it defines, or the
   * line above its list. `null` if it stands alone.
   */
  header: string | null;
}

interface Unit extends TextRange {
  kind: Kind;
}

const SEPARATOR = /^[|\s:-]+$/;
/** Ends a table. */
const BLANK_LINE = /\n\s*\n/;
/** A longer piece of code is quoted by its lines. */
const MAX_CODE_LENGTH = 600;
/** How much of a list is quoted with the line above it. */
const MAX_LIST_LENGTH = 500;

/**
 * Returns the sentences of a passage, the rows of its tables and its code. The row that names the columns is left out, and so is a
 * question with an answer.
 */
export function listSentences(content: string): Sentence[] {
  const sentences: Sentence[] = [];
  const units = readUnits(content);
  const context = new ContextReader();
  for (let index = 0; index < units.length; index++) {
    const unit = units[index] as Unit;
    if (unit.kind === "row") {
      const rows = units.slice(index, tableEnd(content, units, index));
      sentences.push(
        ...listRows(
          content,
          rows.flatMap((row) => splitLines(content, row)),
          context.current,
        ),
      );
      index += rows.length - 1;
    } else if (unit.kind === "code") sentences.push(...listCode(content, unit, context.current));
    else if (unit.kind !== "noise") {
      const above = context.read(content, unit);
      sentences.push(...listText(content, units, index, context, above));
    }
  }
  return sentences.filter(({ quote }) => /[\p{L}\p{N}]/u.test(quote));
}

function readUnits(content: string): Unit[] {
  return findUnits(content, { start: 0, end: content.length }).map((unit) => ({
    ...unit,
    kind: kindOf(content.slice(unit.start, unit.end)),
  }));
}

function tableEnd(content: string, units: readonly Unit[], start: number): number {
  let end = start + 1;
  for (; units[end]?.kind === "row"; end++)
    if (BLANK_LINE.test(content.slice(units[end - 1]?.end, units[end]?.start))) break;
  return end;
}

/** Returns the end of the last item of the list below a line that is quoted with it. */
function listEnd(units: readonly Unit[], index: number): number {
  const start = units[index]?.start ?? 0;
  let end = units[index]?.end ?? 0;
  for (const { kind, end: until } of units.slice(index + 1)) {
    if (kind !== "item" || until - start > MAX_LIST_LENGTH) break;
    end = until;
  }
  return end;
}

/** Returns the sentences of a unit. A list is quoted as a whole too: with the line above it, or as the answer to a question. */
function listText(
  content: string,
  units: readonly Unit[],
  index: number,
  context: ContextReader,
  above: Context,
): Sentence[] {
  const unit = units[index] as Unit;
  const next = units[index + 1];
  const role = context.introduces(content, unit, next);
  if (role === null) return listUnit(content, unit, above, unit.end);
  const hasList = next?.kind === "item";
  if (role === "line" && hasList) return listUnit(content, unit, above, listEnd(units, index));
  if (role !== "label" || !hasList) return [];
  const range = { start: withoutMark(content, next).start, end: listEnd(units, index) };
  return range.end > next.end ? [toSentence(content, range, context.current)] : [];
}

/** @param end - of the list that is quoted with the last sentence; the end of the unit if there is none */
function listUnit(content: string, unit: Unit, above: Context, end: number): Sentence[] {
  const question = readQuestion(content, unit);
  const range = question?.answer ?? withoutMark(content, unit);
  const found = findSentences(content, range);
  const last = found.at(-1);
  if (last !== undefined) last.end = Math.max(last.end, end);
  return found.map((sentence) => toSentence(content, sentence, question?.text ?? above));
}

function listCode(content: string, unit: TextRange, above: Context): Sentence[] {
  const [opening = "", ...lines] = content.slice(unit.start, unit.end).split("\n");
  const isClosed = /^\s*(?:`{3,}|~{3,})\s*$/.test(lines.at(-1) ?? "");
  const start = unit.start + opening.length + 1;
  const end = unit.end - (isClosed ? (lines.at(-1) ?? "").length : 0);
  const code = trimRange(content, { start, end });
  if (code.start >= code.end) return [];
  const ranges = code.end - code.start <= MAX_CODE_LENGTH ? [code] : splitLines(content, code);
  return ranges.map((range) => toSentence(content, trimRange(content, range), above));
}

function splitLines(content: string, { start, end }: TextRange): TextRange[] {
  const lines = content.slice(start, end).matchAll(/[^\n]+/g);
  return [...lines].map(({ 0: line, index }) => ({ start: start + index, end: start + index + line.length }));
}

function listRows(content: string, ranges: readonly TextRange[], above: Context): Sentence[] {
  const rows = ranges.map((range) => toSentence(content, range, null));
  const [first, ...others] = rows;
  const texts = others.map(({ quote }) => quote);
  if (first === undefined || !isHeader(first.quote, texts)) return rows.map(({ quote }) => ({ quote, header: above }));
  return others.map(({ quote }) => ({ quote, header: first.quote }));
}

/** Markdown has a line below the header. The tables of other files have a header if it is the only row without a number. */
function isHeader(first: string, others: readonly string[]): boolean {
  const [second] = others;
  if (second === undefined) return false;
  if (SEPARATOR.test(second)) return true;
  return !/\d/.test(first) && others.every((row) => /\d/.test(row));
}

function toSentence(content: string, { start, end }: TextRange, header: Context): Sentence {
  return { quote: content.slice(start, end), header };
}

/**
 * Writes the name of each column before its cell, and the line above a list, a definition or code before it. Returns the sentence alone if
 * it answers a question, or has another number of cells than the header.
 */
export function nameCells({ quote, header }: Sentence): string {
  if (header === null || header.endsWith("?")) return quote;
  if (!header.includes("|")) return `${header}${header.endsWith(":") ? "" : ":"} ${quote}`;
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
