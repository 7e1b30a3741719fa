/** Why a file is not read. The service says it in words. */
export type Violation =
  | "damaged"
  | "encrypted"
  | "no-text"
  | "not-a-document"
  | "too-many-pages"
  | "too-much-text"
  | "too-nested"
  | "unpacks";

/** What the program in the sandbox writes to its standard output, as JSON. */
export type ReadReport =
  | { outcome: "read"; type?: string; title: string | null; text: string }
  | { outcome: "refused"; reason: Violation };

/** A file of an archive. Without a problem, its bytes follow those of the files before it. */
export interface UnpackedFile {
  path: string;
  size: number;
  /** In words that follow the name of the file. */
  problem: string | null;
}

export type UnpackReport =
  | { outcome: "unpacked"; files: UnpackedFile[] }
  | { outcome: "refused"; reason: "not-zip" | "too-many-files" | "unpacks" | "damaged" };

export interface UnpackLimits {
  entries: number;
  unpackedBytes: number;
  fileBytes: number;
  ratio: number;
  ratioBytes: number;
  extensions: readonly string[];
}

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

  /** Divides what follows from the table before it. */
  beginTable(): void {
    if (this.#paragraphs.length > 0) this.#paragraphs.push(DIVIDER);
  }

  /** Adds a row of a table. */
  addRow(cells: readonly string[]): void {
    this.add(`| ${cells.join(" | ")} |`);
  }

  /** Joins items of lists and rows of tables with one line break, and other paragraphs with an empty line between them. */
  finish(): string {
    let text = "";
    let previous = "";
    for (const paragraph of repeatHeaders(this.#paragraphs)) {
      if (text !== "" && paragraph !== DIVIDER) text += isSameGroup(previous, paragraph) ? "\n" : "\n\n";
      text += paragraph;
      previous = paragraph;
    }
    return text;
  }
}

/** A passage of the search has about as many characters, and a row is understood only with the names of its columns. */
const TABLE_LENGTH = 1300;
const SEPARATOR = /^\|(?: --- \|)+$/;
/** Divides a table from the next one. */
const DIVIDER = "";

/** Divides long tables, and begins each part with the names of the columns. */
function* repeatHeaders(paragraphs: readonly string[]): Generator<string, void, undefined> {
  let header: readonly string[] = [];
  let length = 0;
  for (const [index, paragraph] of paragraphs.entries()) {
    const next = paragraphs[index + 1] ?? "";
    if (groupOf(paragraph) !== "row") header = [];
    else if (SEPARATOR.test(next)) [header, length] = [[paragraph, next], 0];
    else if (header.length > 0 && !SEPARATOR.test(paragraph) && length + paragraph.length > TABLE_LENGTH) {
      length = 0;
      yield DIVIDER;
      yield* header;
    }
    length += paragraph.length + 1;
    yield paragraph;
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

/** Titles that programs write by themselves. */
const GENERATED_TITLE =
  /^(\(?(?:anonymous|untitled|unspecified)\)?|title|powerpoint[ -].*|(?:word|excel|powerpoint) (?:document|presentation|workbook)|<%.*|presentation\d*|slide \d+|book\d*|document\d*|microsoft (?:word|powerpoint|excel) - .*|.*\.(docx?|pdf|indd|tex|dvi|html?|odt|rtf|xlsx?|pptx?))$/i;

/** Returns a title without the white space around it; `null` for one that a program wrote by itself. */
export function realTitle(title: string): string | null {
  const text = title.replaceAll(/\s+/g, " ").trim();
  return text === "" || GENERATED_TITLE.test(text) ? null : text;
}
