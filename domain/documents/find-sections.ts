import { type TextRange, trimRange } from "./find-sentences.ts";
import { findFrontMatter } from "./front-matter.ts";

/** The text between a heading and the next one. */
export interface Section {
  /** The headings above the text, from the outermost one. */
  path: string[];
  /** Without the heading. A heading without a text and without headings below it is its own text. */
  body: TextRange;
}

interface Line extends TextRange {
  text: string;
}

export interface Heading {
  level: number;
  title: string;
  /** Of the heading. */
  range: TextRange;
}

/** The longest heading path, in characters. */
const MAX_HEADING = 200;

/** Divides Markdown along its headings. Together the sections contain every word of the text below its front matter. */
export function findSections(text: string): Section[] {
  const headings = findHeadings(text);
  const sections: Section[] = [];
  const [first] = headings;
  const path: Heading[] = [];
  addSection(sections, [], trimRange(text, { start: textStart(text), end: first?.range.start ?? text.length }));
  for (const [index, heading] of headings.entries()) {
    while ((path.at(-1)?.level ?? 0) >= heading.level) path.pop();
    path.push(heading);
    const next = headings[index + 1];
    const body = trimRange(text, { start: heading.range.end, end: next?.range.start ?? text.length });
    const isLeaf = next === undefined || next.level <= heading.level;
    addSection(sections, path, body.start < body.end || !isLeaf ? body : trimRange(text, heading.range));
  }
  return sections;
}

function addSection(sections: Section[], path: readonly Heading[], body: TextRange): void {
  if (body.start < body.end) sections.push({ path: path.map(({ title }) => title), body });
}

/** Returns where the text begins below its front matter. */
export function textStart(text: string): number {
  return findFrontMatter(text)?.range.end ?? 0;
}

/** Finds the headings of Markdown, in their order. */
export function findHeadings(text: string): Heading[] {
  const headings: Heading[] = [];
  let fence: string | null = null;
  let before: Line | null = null;
  let previous: Line | null = null;
  for (const line of iterateLines(text, textStart(text))) {
    const marker = /^ {0,3}(`{3,}|~{3,})/.exec(line.text)?.[1] ?? null;
    if (fence !== null) {
      if (marker?.startsWith(fence)) fence = null;
    } else if (marker !== null) fence = marker;
    else {
      const heading = readHeading(line) ?? readUnderlined(before, previous, line);
      if (heading !== null) headings.push(heading);
    }
    before = previous;
    previous = line;
  }
  return headings;
}

function* iterateLines(text: string, from: number): Generator<Line> {
  for (let start = from; start < text.length;) {
    const found = text.indexOf("\n", start);
    const end = found < 0 ? text.length : found;
    yield { start, end, text: text.slice(start, end) };
    start = end + 1;
  }
}

/** A heading such as `## Title`. */
function readHeading(line: Line): Heading | null {
  const match = /^ {0,3}(#{1,6})[ \t]+(\S.*)$/.exec(line.text);
  if (match === null) return null;
  const title = toHeadingTitle((match[2] ?? "").replace(/[ \t]#+[ \t]*$/, ""));
  return { level: match[1]?.length ?? 1, title, range: { start: line.start, end: line.end } };
}

/** A heading with a line of `=` or `-` below it, which follows an empty line. */
function readUnderlined(before: Line | null, title: Line | null, line: Line): Heading | null {
  if (title === null || (before !== null && before.text.trim() !== "")) return null;
  if (!/^ {0,3}(={3,}|-{3,})[ \t]*$/.test(line.text) || !/^ {0,3}[^\s#>|*+-]/.test(title.text)) return null;
  const level = line.text.includes("=") ? 1 : 2;
  return { level, title: toHeadingTitle(title.text), range: { start: title.start, end: line.end } };
}

function toHeadingTitle(text: string): string {
  return text
    .replaceAll(/!?\[([^[\]]*)\]\([^()\s]*(?:\s+"[^"]*")?\)/g, "$1")
    .replace(/\s*\{[:#][^{}]*\}$/, "")
    .replaceAll(/[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}/g, "")
    .trim()
    .slice(0, MAX_HEADING);
}
