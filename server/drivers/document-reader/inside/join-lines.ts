import type { PdfLine } from "./pdf-lines.ts";

/** Letters that are this much larger than those of the text are a heading. */
const HEADING_RATIO = 1.12;
const MAX_HEADING_LENGTH = 200;
const MAX_HEADING_LEVEL = 4;

/** On how many pages, at least, a line at the top or the bottom is repeated when it is not text of the document. */
const REPEATED_PAGES = 3;
const MARGIN_LINES = 3;

const BULLET = /^[•‣▪●○◦·–*-]\s+(?=\S)/;
const NUMBER = /^(?:\(?\d{1,3}[.)]|\(?[a-z][.)])\s+\S/;

interface Layout {
  /** The size of most letters. */
  bodySize: number;
  /** The usual distance between two lines of a paragraph, relative to the size of the letters. */
  lineSpacing: number;
  /** The sizes of headings, the largest first. */
  headingSizes: number[];
}

interface Heading {
  text: string;
  level: number;
  isOnFirstPage: boolean;
}

/**
 * Joins the lines of a document to headings and paragraphs, as Markdown.
 *
 * @returns as title the heading of the first page with the largest letters; without one, the first heading
 */
export function joinLines(pages: readonly PdfLine[][]): { paragraphs: string[]; title: string | null } {
  const kept = removeRepeated(pages);
  const layout = measureLayout(kept);
  const paragraphs: string[] = [];
  const firstPage = new Set(kept.find((lines) => lines.length > 0));
  const headings: Heading[] = [];
  let open: { lines: PdfLine[]; level: number | null } | null = null;
  const finish = () => {
    if (open === null) return;
    const text = joinText(open.lines);
    const { level, lines } = open;
    const [first] = lines;
    if (level !== null) headings.push({ text, level, isOnFirstPage: first !== undefined && firstPage.has(first) });
    paragraphs.push(level === null ? toParagraph(text, lines) : `${"#".repeat(level)} ${text}`);
    open = null;
  };
  for (const line of kept.flat()) {
    const level = headingLevel(line, layout);
    const last: PdfLine | undefined = open?.lines.at(-1);
    if (open !== null && last !== undefined && open.level === level && continues(last, line, layout))
      open.lines.push(line);
    else {
      finish();
      open = { lines: [line], level };
    }
  }
  finish();
  return { paragraphs, title: chooseTitle(headings) };
}

function chooseTitle(headings: readonly Heading[]): string | null {
  const [largest] = headings.filter(({ isOnFirstPage }) => isOnFirstPage).toSorted((a, b) => a.level - b.level);
  return (largest ?? headings[0])?.text ?? null;
}

function removeRepeated(pages: readonly PdfLine[][]): PdfLine[][] {
  const counts = new Map<string, number>();
  for (const lines of pages)
    for (const key of new Set(marginsOf(lines).map(keyOf))) counts.set(key, (counts.get(key) ?? 0) + 1);
  const least = Math.max(REPEATED_PAGES, pages.length / 2);
  return pages.map((lines) => {
    const margins = new Set(marginsOf(lines));
    return lines.filter((line) => !margins.has(line) || (counts.get(keyOf(line)) ?? 0) < least);
  });
}

function marginsOf(lines: PdfLine[]): PdfLine[] {
  const sorted = lines.toSorted((a, b) => b.baseline - a.baseline);
  return [...sorted.slice(0, MARGIN_LINES), ...sorted.slice(-MARGIN_LINES)];
}

/** Page numbers differ from page to page. */
function keyOf({ text }: PdfLine): string {
  return text.replaceAll(/\d+/g, "#");
}

function measureLayout(pages: readonly PdfLine[][]): Layout {
  const lengths = new Map<number, number>();
  const spacings = new Map<number, number>();
  for (const lines of pages)
    for (const [index, line] of lines.entries()) {
      lengths.set(line.size, (lengths.get(line.size) ?? 0) + line.text.length);
      const next = lines[index + 1];
      const spacing = next && next.size === line.size ? (line.baseline - next.baseline) / line.size : 0;
      const rounded = Math.round(spacing * 20) / 20;
      if (rounded > 0.9 && rounded < 2.5) spacings.set(rounded, (spacings.get(rounded) ?? 0) + 1);
    }
  const bodySize = mostFrequent(lengths, 10);
  const headingSizes = [...lengths.keys()].filter((size) => size >= bodySize * HEADING_RATIO).toSorted((a, b) => b - a);
  return { bodySize, lineSpacing: mostFrequent(spacings, 1.2), headingSizes };
}

function mostFrequent(counts: ReadonlyMap<number, number>, fallback: number): number {
  const [most] = [...counts].toSorted(([, a], [, b]) => b - a);
  return most?.[0] ?? fallback;
}

function headingLevel({ text, size, isRow }: PdfLine, { headingSizes }: Layout): number | null {
  const rank = headingSizes.indexOf(size);
  if (rank < 0 || isRow || text.length > MAX_HEADING_LENGTH || !/\p{L}/u.test(text)) return null;
  return Math.min(rank + 1, MAX_HEADING_LEVEL);
}

/** Whether a line is in the same paragraph as the line before it. */
function continues(last: PdfLine, line: PdfLine, { lineSpacing }: Layout): boolean {
  if (last.isField === true || line.isField === true) return false;
  if (last.isRow || line.isRow || BULLET.test(line.text) || NUMBER.test(line.text)) return false;
  if (Math.abs(last.size - line.size) > 0.1 * line.size) return false;
  const distance = (last.baseline - line.baseline) / line.size;
  // The next column or the next page: the paragraph goes on in the middle of a sentence.
  if (distance < 0) return !/[.!?:;]["')\]]?$/.test(last.text) && /^\p{Ll}/u.test(line.text);
  if (distance > lineSpacing * 1.25) return false;
  const isIndented = line.left > last.left + 0.8 * line.size && !BULLET.test(last.text) && !NUMBER.test(last.text);
  const isShort = last.right < line.right - 6 * line.size && /[.!?:]["')\]]?$/.test(last.text);
  return !isIndented && !isShort;
}

/** A hyphen at the end of a line divides a word if the next line goes on with a small letter. */
function joinText(lines: readonly PdfLine[]): string {
  let text = "";
  for (const line of lines) {
    if (/\p{L}-$/u.test(text) && /^\p{Ll}/u.test(line.text)) text = text.slice(0, -1) + line.text;
    else text += `${text === "" ? "" : " "}${line.text}`;
  }
  return text.trim();
}

function toParagraph(text: string, [first]: readonly PdfLine[]): string {
  if (first?.isRow) return `| ${text} |`;
  return text.replace(BULLET, "- ").replace(/^#/, String.raw`\#`);
}
