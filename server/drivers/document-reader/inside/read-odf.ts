import type { OfficeArchive } from "./office-archive.ts";
import { type ReadLimits, realTitle, RefusedFile, TextCollector } from "./report.ts";
import { SheetWriter } from "./sheet-writer.ts";
import { elementsOf, findAll, findFirst, textIn, type XmlElement } from "./xml.ts";

/** Elements whose content is not shown as text. */
const LEFT_OUT = new Set(
  "annotation tracked-changes forms sequence-decls note-citation ruby-text dde-connection-decls desc title script settings".split(
    " ",
  ),
);
const MAX_REPEATED = 200;
const MAX_LEVEL = 6;

/**
 * Reads a text, a spreadsheet or a presentation in the OpenDocument format (OpenDocument 1.3). Comments, deleted text and hidden tables are left
 * out.
 */
export async function readOdf(
  archive: OfficeArchive,
  limits: ReadLimits,
): Promise<{ title: string | null; text: string }> {
  const manifest = await archive.readText("META-INF/manifest.xml");
  if (manifest?.includes("encryption-data") === true) throw new RefusedFile("encrypted");
  const content = await archive.readXml("content.xml");
  const body = content && findFirst(content, "document-content", "body");
  if (!content || !body) throw new RefusedFile("damaged");
  const writer = new OdfWriter(readTitleStyles(content), limits);
  for (const kind of elementsOf(body)) writer.writeBlocks(kind);
  const meta = await archive.readXml("meta.xml").catch(() => null);
  const title = meta && findFirst(meta, "document-meta", "meta", "title");
  return { title: writer.title ?? (title ? realTitle(textIn(title)) : null), text: writer.finish() };
}

/** The names of the styles of titles: a paragraph has an automatic one that is based on the style of the template. */
function readTitleStyles(content: XmlElement): Set<string> {
  const styles = findAll(content, "document-content", "automatic-styles", "style");
  const based = styles.filter(({ attributes }) => attributes["parent-style-name"] === "Title");
  return new Set(["Title", ...based.map(({ attributes }) => attributes["name"] ?? "")]);
}

class OdfWriter {
  readonly #collector: TextCollector;
  readonly #titleStyles: ReadonlySet<string>;
  title: string | null = null;
  #notes: string[] = [];
  #frames: XmlElement[] = [];

  constructor(titleStyles: ReadonlySet<string>, limits: ReadLimits) {
    this.#titleStyles = titleStyles;
    this.#collector = new TextCollector(limits);
  }

  writeBlocks(parent: XmlElement): void {
    for (const element of elementsOf(parent)) this.#writeBlock(element);
  }

  #writeBlock(element: XmlElement): void {
    const { name, attributes } = element;
    if (LEFT_OUT.has(name)) return;
    if (name === "h") {
      const level = Math.min(MAX_LEVEL, Number(attributes["outline-level"] ?? 1) || 1);
      this.#writeParagraph(element, `${"#".repeat(level)} `);
    } else if (name === "p") this.#writeText(element);
    else if (name === "list") this.#writeList(element, 0);
    else if (name === "table") this.#writeTable(element);
    else if (name === "page") this.#writeSlide(element);
    else this.writeBlocks(element);
  }

  #writeText(paragraph: XmlElement): void {
    const isTitle = this.#titleStyles.has(paragraph.attributes["style-name"] ?? "");
    const text = this.#writeParagraph(paragraph, isTitle ? "# " : "");
    if (isTitle && text !== "") this.title ??= text;
  }

  #writeParagraph(paragraph: XmlElement, mark: string): string {
    const text = this.#readInline(paragraph);
    if (text !== "") this.#collector.add(mark === "" ? text.replace(/^#/, String.raw`\#`) : mark + text);
    const [notes, frames] = [this.#notes, this.#frames];
    [this.#notes, this.#frames] = [[], []];
    for (const frame of frames) this.writeBlocks(frame);
    for (const note of notes) this.#collector.add(note);
    return text;
  }

  #writeList(list: XmlElement, level: number): void {
    for (const item of elementsOf(list))
      for (const element of elementsOf(item))
        if (element.name === "list") this.#writeList(element, level + 1);
        else if (element.name === "p" || element.name === "h")
          this.#writeParagraph(element, `${"  ".repeat(Math.min(level, 8))}- `);
        else this.#writeBlock(element);
  }

  /** The title of a slide is its heading. */
  #writeSlide(page: XmlElement): void {
    const frames = elementsOf(page);
    const heading = frames.find(({ attributes }) => attributes["class"] === "title");
    const title = heading === undefined ? "" : this.#readInline(heading);
    if (title !== "") this.#collector.add(`## ${title}`);
    if (title !== "") this.title ??= title;
    for (const frame of frames) if (frame !== heading) this.#writeBlock(frame);
  }

  #writeTable(table: XmlElement): void {
    if (table.attributes["display"] === "false") return;
    // The name of a table in a text is not shown.
    const isSheet =
      findFirst(table, "shapes") !== undefined || /^(?!Table\d+$|table)/i.test(table.attributes["name"] ?? "");
    const writer = new SheetWriter(isSheet ? (table.attributes["name"] ?? "") : "", this.#collector);
    let number = 0;
    for (const row of rowsOf(table)) {
      const repeated = Math.max(1, Number(row.attributes["number-rows-repeated"] ?? 1) || 1);
      const isShown = !/^(?:collapse|filter)$/.test(row.attributes["visibility"] ?? "");
      const cells = isShown ? this.#readCells(row) : [];
      if (cells.some((cell) => cell !== ""))
        for (let index = 1; index <= Math.min(repeated, MAX_REPEATED); index++) writer.addRow(number + index, cells);
      number += repeated;
    }
    writer.finish();
  }

  #readCells(row: XmlElement): string[] {
    const cells: string[] = [];
    for (const cell of elementsOf(row)) {
      if (cell.name !== "table-cell" && cell.name !== "covered-table-cell") continue;
      const repeated = Math.max(1, Number(cell.attributes["number-columns-repeated"] ?? 1) || 1);
      const text = this.#readInline(cell);
      for (let index = 0; index < Math.min(repeated, MAX_REPEATED); index++) cells.push(text);
    }
    return cells;
  }

  #readInline(element: XmlElement): string {
    const read = (part: XmlElement | string): string => {
      if (typeof part === "string") return part;
      if (LEFT_OUT.has(part.name)) return "";
      if (part.name === "s" || part.name === "tab" || part.name === "line-break") return " ";
      if (part.name === "note") return this.#readNote(part);
      if (part.name === "text-box" && element.name !== "frame") {
        this.#frames.push(part);
        return "";
      }
      const text = part.children.map(read).join("");
      return part.name === "p" || part.name === "h" ? ` ${text} ` : text;
    };
    return element.children
      .map(read)
      .join("")
      .replaceAll(/[\s\u00a0]+/g, " ")
      .trim();
  }

  #readNote(note: XmlElement): string {
    const citation = findFirst(note, "note-citation");
    const body = findFirst(note, "note-body");
    const sign = citation === undefined ? "*" : textIn(citation).trim();
    if (body !== undefined) this.#notes.push(`[${sign}] ${this.#readInline(body)}`);
    return `[${sign}]`;
  }

  finish(): string {
    return this.#collector.finish();
  }
}

function rowsOf(table: XmlElement): XmlElement[] {
  return elementsOf(table).flatMap((element) => {
    if (element.name === "table-row") return [element];
    return /^table-(?:header-rows|rows|row-group)$/.test(element.name) ? rowsOf(element) : [];
  });
}
