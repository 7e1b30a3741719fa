import { findSentences, type TextRange } from "../documents/find-sentences.ts";
import { type Kind, plainLine, withoutMark } from "./sentence-units.ts";

/** The line that a sentence belongs to; `null` if there is none. */
export type Context = string | null;

interface Unit extends TextRange {
  kind: Kind;
}

/** An answer is at most this many paragraphs and items. */
const MAX_ANSWER_UNITS = 8;
const MAX_LINE_LENGTH = 300;
/** How far a paragraph is indented, compared with items. */
const PARAGRAPH = -1;

/** Follows the paragraphs and items of a passage, and knows which line the next one belongs to. */
export class ContextReader {
  /** Questions and labels, such as `**Fees**`. */
  #above: Context = null;
  #room = 0;
  /** The lines above the open lists, from the outermost one. */
  #lists: { indent: number; text: string }[] = [];
  #term: Context = null;

  /** The line that code or a table at this place belongs to. */
  get current(): Context {
    return this.#lists.at(-1)?.text ?? this.#above;
  }

  /** Returns the line that a unit belongs to, and remembers the unit if others can belong to it. */
  read(content: string, unit: Unit): Context {
    const { start, end } = withoutMark(content, unit);
    const text = plainLine(content.slice(start, end));
    const indent = unit.kind === "item" ? indentOf(content, unit) : PARAGRAPH;
    while ((this.#lists.at(-1)?.indent ?? PARAGRAPH - 1) >= indent) this.#lists.pop();
    const context = unit.kind === "definition" ? this.#term : this.current;
    if (unit.kind !== "definition") this.#term = text.length <= MAX_LINE_LENGTH ? text : null;
    if (this.#room-- <= 0) this.#above = null;
    if (isLabel(content.slice(start, end), text)) {
      this.#above = text;
      this.#room = MAX_ANSWER_UNITS;
      this.#lists = [];
      return null;
    }
    if (text.endsWith(":")) this.#lists.push({ indent, text: lastSentence(text) });
    return context;
  }

  /** Says whether a unit introduces the next one: a term its definition, a question its answer, a line the list or code below it. */
  introduces(content: string, unit: Unit, next: Unit | undefined): "term" | "label" | "line" | null {
    if (next === undefined || next.kind === "noise") return null;
    if (next.kind === "definition") return unit.kind === "definition" ? null : "term";
    if (isLabelAt(content, unit)) return isLabelAt(content, next) ? null : "label";
    const text = plainLine(rest(content, unit));
    if (!text.endsWith(":")) return null;
    return next.kind === "item" || (next.kind === "code" && isOneSentence(text)) ? "line" : null;
  }
}

function isLabelAt(content: string, unit: TextRange): boolean {
  const text = rest(content, unit);
  return isLabel(text, plainLine(text));
}

function rest(content: string, unit: TextRange): string {
  const { start, end } = withoutMark(content, unit);
  return content.slice(start, end);
}

/** A question, or a line in bold letters. */
function isLabel(markdown: string, text: string): boolean {
  if (text === "" || text.length > MAX_LINE_LENGTH) return false;
  if (text.endsWith("?")) return isOneSentence(text);
  return /^(?:\*\*|__)[^*_\n]+(?:\*\*|__):?$/.test(markdown.trim());
}

function isOneSentence(text: string): boolean {
  return findSentences(text, { start: 0, end: text.length }).length === 1;
}

function lastSentence(text: string): string {
  const last = findSentences(text, { start: 0, end: text.length }).at(-1);
  return last === undefined ? text : text.slice(last.start, last.end);
}

function indentOf(content: string, { start }: TextRange): number {
  return start - (content.lastIndexOf("\n", start - 1) + 1);
}
