import { DocxParagraphs } from "./docx-paragraphs.ts";
import { type DocxParts, readDocxParts } from "./docx-parts.ts";
import { type OfficeArchive, readCoreTitle } from "./office-archive.ts";
import { type ReadLimits, RefusedFile, TextCollector } from "./report.ts";
import { elementsOf, findAll, findFirst, type XmlElement } from "./xml.ts";

/** Elements around paragraphs and rows that are not shown. */
const WRAPPERS = new Set(["sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag"]);

/**
 * Reads a DOCX file (ECMA-376 part 1, WordprocessingML): headings, paragraphs, lists, tables, text boxes, fields, equations and notes. Deleted
 * and hidden text, comments, headers and footers are left out.
 *
 * @throws {RefusedFile} for an archive that is not a DOCX file
 */
export async function readDocx(
  archive: OfficeArchive,
  limits: ReadLimits,
): Promise<{ title: string | null; text: string }> {
  const parts = await readDocxParts(archive);
  const body = parts === null ? undefined : findFirst(parts.document, "document", "body");
  if (parts === null || body === undefined) throw new RefusedFile("not-a-document");
  const writer = new DocxWriter(parts, limits);
  writer.writeBlocks(body);
  return { title: writer.title ?? (await readCoreTitle(archive)), text: writer.finish() };
}

class DocxWriter {
  readonly #collector: TextCollector;
  readonly #paragraphs: DocxParagraphs;
  /** The text of the paragraph that has the style of a title. */
  title: string | null = null;

  constructor(parts: DocxParts, limits: ReadLimits) {
    this.#collector = new TextCollector(limits);
    this.#paragraphs = new DocxParagraphs(parts);
  }

  writeBlocks(parent: XmlElement): void {
    for (const element of elementsOf(parent))
      if (element.name === "p") this.#writeParagraph(element);
      else if (element.name === "tbl") this.#writeTable(element);
      else if (WRAPPERS.has(element.name)) this.writeBlocks(element);
      else if (element.name === "oMathPara" || element.name === "oMath")
        this.#collector.add(this.#paragraphs.readInline(element).text);
  }

  #writeParagraph(paragraph: XmlElement): void {
    const { text, boxes, notes } = this.#paragraphs.readInline(paragraph);
    const { isTitle, mark } = this.#paragraphs.describe(paragraph, text !== "");
    if (isTitle && text !== "") this.title ??= text;
    if (text !== "") this.#collector.add(mark === "" ? text.replace(/^#/, String.raw`\#`) : mark + text);
    for (const box of boxes) this.writeBlocks(box);
    for (const note of notes) this.#collector.add(note);
  }

  #writeTable(table: XmlElement): void {
    const rows = rowsOf(table);
    const cells = rows.map((row) => cellsOf(row));
    const [only, ...others] = cells.flat();
    // A table of one cell is a frame around paragraphs.
    if (only !== undefined && others.length === 0) return this.writeBlocks(only);
    /** The text that each column had last. */
    const columns: string[] = [];
    this.#collector.beginTable();
    for (const [index, row] of rows.entries()) {
      const texts: string[] = [];
      for (const cell of cells[index] ?? []) texts.push(...this.#readCell(cell, columns, texts.length));
      if (texts.every((text) => text === "")) continue;
      this.#collector.addRow(texts);
      const isHeader = findFirst(row, "trPr", "tblHeader") !== undefined;
      if (isHeader && index === 0) this.#collector.addRow(texts.map(() => "---"));
    }
  }

  /** Returns the text of a cell for each column that it spans. A cell that goes on from the row above has its text. */
  #readCell(cell: XmlElement, columns: string[], index: number): string[] {
    const properties = findFirst(cell, "tcPr");
    const span = Math.min(100, Number(properties && findFirst(properties, "gridSpan")?.attributes["val"]) || 1);
    const merge = properties && findFirst(properties, "vMerge");
    const text =
      merge !== undefined && merge.attributes["val"] !== "restart"
        ? (columns[index] ?? "")
        : this.#textOfBlocks(cell).replaceAll("|", "/");
    columns[index] = text;
    return [text, ...Array.from({ length: span - 1 }, () => "")];
  }

  #textOfBlocks(parent: XmlElement): string {
    const texts = elementsOf(parent).map((element) => {
      if (element.name === "p") {
        const { text, boxes, notes } = this.#paragraphs.readInline(element);
        return [text, ...boxes.map((box) => this.#textOfBlocks(box)), ...notes].join(" ");
      }
      if (element.name === "tbl")
        return rowsOf(element)
          .flatMap((row) => cellsOf(row).map((cell) => this.#textOfBlocks(cell)))
          .join(" ");
      return WRAPPERS.has(element.name) ? this.#textOfBlocks(element) : "";
    });
    return texts.join(" ").replaceAll(/\s+/g, " ").trim();
  }

  finish(): string {
    return this.#collector.finish();
  }
}

function rowsOf(table: XmlElement): XmlElement[] {
  return childrenOf(table, "tr").filter((row) => findAll(row, "trPr", "del").length === 0);
}

function cellsOf(row: XmlElement): XmlElement[] {
  return childrenOf(row, "tc");
}

function childrenOf(parent: XmlElement, name: string): XmlElement[] {
  return elementsOf(parent).flatMap((element) => {
    if (element.name === name) return [element];
    return WRAPPERS.has(element.name) ? childrenOf(element, name) : [];
  });
}
