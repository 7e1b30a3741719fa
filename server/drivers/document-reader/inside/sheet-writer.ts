import type { TextCollector } from "./report.ts";

/** A sheet with more columns is not a table for people. */
const MAX_COLUMNS = 200;

/** Writes the rows of a sheet. Rows without a row between them are one table; rows with one cell are paragraphs. */
export class SheetWriter {
  readonly #collector: TextCollector;
  readonly #name: string;
  #isNamed = false;
  #block: string[][] = [];
  #last = 0;

  constructor(name: string, collector: TextCollector) {
    this.#name = name;
    this.#collector = collector;
  }

  /** @param number - of the row in the sheet; a number is missing where a row is empty */
  addRow(number: number, cells: readonly string[]): void {
    const texts = Array.from({ length: Math.min(cells.length, MAX_COLUMNS) }, (_, index) => clean(cells[index] ?? ""));
    const isEmpty = texts.every((text) => text === "");
    if (isEmpty || (this.#last > 0 && number > this.#last + 1)) this.finish();
    if (isEmpty) return;
    this.#last = number;
    this.#block.push(texts);
  }

  /** Writes the rows that belong together. */
  finish(): void {
    const rows = this.#block;
    this.#block = [];
    this.#last = 0;
    if (rows.length === 0) return;
    if (!this.#isNamed && this.#name !== "") this.#collector.add(`## ${clean(this.#name)}`);
    this.#isNamed = true;
    const start = rows.findIndex((row) => countFilled(row) > 1);
    const lines = start < 0 ? rows : rows.slice(0, start);
    for (const row of lines) this.#collector.add(row.filter((cell) => cell !== "").join(" "));
    if (start >= 0) this.#writeTable(rows.slice(start));
  }

  #writeTable(rows: readonly string[][]): void {
    this.#collector.beginTable();
    const width = Math.max(...rows.map((row) => row.length));
    const columns = Array.from({ length: width }, (_, index) => index).filter((index) =>
      rows.some((row) => (row[index] ?? "") !== ""),
    );
    for (const [index, row] of rows.entries()) {
      this.#collector.addRow(columns.map((column) => row[column] ?? ""));
      if (index === 0 && rows.length > 1 && isHeader(row)) this.#collector.addRow(columns.map(() => "---"));
    }
  }
}

/** Names of columns are words, or years. */
function isHeader(row: readonly string[]): boolean {
  const filled = row.filter((cell) => cell !== "");
  return filled.some((cell) => /\p{L}/u.test(cell)) && filled.every((cell) => /\p{L}|^(?:19|20)\d\d$/u.test(cell));
}

function countFilled(row: readonly string[]): number {
  return row.filter((cell) => cell !== "").length;
}

function clean(text: string): string {
  return text
    .replaceAll("|", "/")
    .replaceAll(/[\s\u00a0]+/g, " ")
    .trim();
}
