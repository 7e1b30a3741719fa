/** A line of a page. Lengths are in points. */
export interface PdfLine {
  text: string;
  /** Whether it has cells with wide gaps between them. */
  isRow: boolean;
  /** Whether it is the value of a form field, which no other line continues. */
  isField?: boolean;
  /** Of the letters. */
  size: number;
  left: number;
  right: number;
  /** From the bottom of the page. */
  baseline: number;
}

/** A part of a line, as pdf.js returns it. */
interface TextItem {
  str: string;
  width: number;
  /** The matrix that places the text: scale, rotation, and the position at its end. */
  transform: number[];
  hasEOL: boolean;
}

/** A gap that separates two cells, relative to the size of the letters. */
const CELL_GAP = 2.2;
const WORD_GAP = 0.15;
const LIST_MARKER = /^(?:\(?[\dA-Za-z]{1,3}[.)]|[•‣▪●○◦–*-]|\d+(?:\.\d+)+\.?)$/;

/** Joins the parts of a page to lines, in the order in which the file draws them. */
export function readLines(items: readonly object[]): PdfLine[] {
  const lines: PdfLine[] = [];
  let open: PdfLine | null = null;
  for (const item of items) {
    if (!isTextItem(item)) continue;
    const text = expandLigatures(item.str);
    const part = measure(item);
    if (text.trim() !== "" && part.size > 0) {
      if (open !== null && isSameLine(open, part)) append(open, text, part);
      else lines.push((open = { text: text.trim(), isRow: false, ...part }));
    }
    if (item.hasEOL) open = null;
  }
  return lines;
}

type Part = Omit<PdfLine, "text" | "isRow">;

function isTextItem(item: object): item is TextItem {
  return "str" in item && "transform" in item;
}

function measure({ transform, width }: TextItem): Part {
  const [a = 0, b = 0, , , x = 0, y = 0] = transform;
  return { size: Math.round(Math.hypot(a, b) * 10) / 10, left: x, right: x + width, baseline: y };
}

/** A superscript is on the line of the letters before it. */
function isSameLine(line: PdfLine, part: Part): boolean {
  const isLevel = Math.abs(part.baseline - line.baseline) < 0.5 * Math.max(line.size, part.size);
  return isLevel && part.left > line.right - line.size;
}

function append(line: PdfLine, text: string, part: Part): void {
  const gap = part.left - line.right;
  const isCell = gap > CELL_GAP * line.size && !LIST_MARKER.test(line.text);
  const hasSpace = gap > WORD_GAP * line.size || /^\s/.test(text);
  line.text += `${isCell ? " | " : hasSpace ? " " : ""}${text.trim()}`;
  line.isRow ||= isCell;
  line.right = Math.max(line.right, part.right);
  // The larger letters of a line decide, so that a superscript does not make it small.
  line.size = Math.max(line.size, part.size);
}

/** Letters that fonts have joined, such as ﬁ, and soft hyphens. */
function expandLigatures(text: string): string {
  return text
    .replaceAll(/[\ufb00-\ufb06]/g, (letter) => letter.normalize("NFKC"))
    .replaceAll("\u00ad", "")
    .replaceAll(/[\s\u00a0]+/g, " ");
}
