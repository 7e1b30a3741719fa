/** Why a file is not read. The service says it in words. */
export type Violation =
  | "damaged"
  | "encrypted"
  | "no-text"
  | "not-docx"
  | "too-many-pages"
  | "too-much-text"
  | "too-nested";

/** What the program in the sandbox writes to its standard output, as JSON. */
export type ReadReport =
  | { outcome: "read"; title: string | null; text: string }
  | { outcome: "refused"; reason: Violation };

export interface ReadLimits {
  pages: number;
  /** Of the text in UTF-16 code units. */
  characters: number;
}

/** Ends the reading of a file. */
export class RefusedFile extends Error {
  readonly reason: Violation;

  constructor(reason: Violation) {
    super(reason);
    this.reason = reason;
  }
}

/** Collects paragraphs up to the limit of the text. */
export class TextCollector {
  readonly #paragraphs: string[] = [];
  #room: number;

  constructor({ characters }: ReadLimits) {
    this.#room = characters;
  }

  /** @throws {RefusedFile} */
  add(paragraph: string): void {
    if (paragraph === "") return;
    this.#room -= paragraph.length + 2;
    if (this.#room < 0) throw new RefusedFile("too-much-text");
    this.#paragraphs.push(paragraph);
  }

  /** Joins items of lists and rows of tables with one line break, and other paragraphs with an empty line between them. */
  finish(): string {
    let text = "";
    let previous = "";
    for (const paragraph of this.#paragraphs) {
      if (previous !== "") text += isSameGroup(previous, paragraph) ? "\n" : "\n\n";
      text += paragraph;
      previous = paragraph;
    }
    return text;
  }
}

/** Items of one list and rows of one table belong together. A list inside an item belongs to the list around it. */
function isSameGroup(previous: string, next: string): boolean {
  const [before, after] = [groupOf(previous), groupOf(next)];
  if (before === null || after === null) return false;
  const isNested = /^\s/.test(previous) || /^\s/.test(next);
  return before === after || (isNested && before !== "row" && after !== "row");
}

function groupOf(paragraph: string): "row" | "bullets" | "numbers" | null {
  if (paragraph.startsWith("| ")) return "row";
  if (/^\s*- /.test(paragraph)) return "bullets";
  return /^\s*\d{1,9}[.)] /.test(paragraph) ? "numbers" : null;
}
