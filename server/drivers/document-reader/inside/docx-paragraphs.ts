import { describeName, type DocxParts } from "./docx-parts.ts";
import { writeEquation } from "./office-equations.ts";
import { chooseAlternative, elementsOf, findBelow, findFirst, textIn, type XmlElement } from "./xml.ts";

/** What a paragraph contains. */
export interface Inline {
  text: string;
  /** The text boxes whose anchor is in the paragraph. */
  boxes: XmlElement[];
  /** The texts of the notes that it refers to. */
  notes: string[];
}

/** Elements whose content is not shown, or is not text of the document. */
const LEFT_OUT = new Set(
  "del moveFrom delText instrText delInstrText rPr pPr sdtPr rt commentReference annotationRef footnoteRef endnoteRef object".split(
    " ",
  ),
);

/** Reads the paragraphs of a document in their order, because items and notes are counted. */
export class DocxParagraphs {
  readonly #parts: DocxParts;
  readonly #counters = new Map<string, number[]>();
  #notes = 0;

  constructor(parts: DocxParts) {
    this.#parts = parts;
  }

  /** Says what Markdown writes before a paragraph: the mark of a heading or an item. */
  describe(paragraph: XmlElement, hasText: boolean): { isTitle: boolean; mark: string } {
    const properties = findFirst(paragraph, "pPr");
    const id = (properties && findFirst(properties, "pStyle")?.attributes["val"]) ?? "";
    const style = this.#parts.styles.get(id) ?? { ...describeName(id), numbering: undefined };
    const outline = properties && findFirst(properties, "outlineLvl")?.attributes["val"];
    const level = outline !== undefined && Number(outline) < 6 ? Number(outline) + 1 : style.headingLevel;
    if (level !== null) return { isTitle: style.isTitle, mark: `${"#".repeat(level)} ` };
    const numbering = (properties && findFirst(properties, "numPr")) ?? style.numbering;
    return { isTitle: false, mark: numbering === undefined || !hasText ? "" : this.#markOf(numbering) };
  }

  #markOf(numbering: XmlElement): string {
    const listId = findFirst(numbering, "numId")?.attributes["val"] ?? "0";
    if (listId === "0") return "";
    const level = Math.min(8, Number(findFirst(numbering, "ilvl")?.attributes["val"] ?? 0) || 0);
    const counts = (this.#counters.get(listId) ?? []).slice(0, level + 1);
    counts[level] = (counts[level] ?? 0) + 1;
    this.#counters.set(listId, counts);
    const sign = this.#parts.isNumbered(listId, level) ? `${counts[level]}.` : "-";
    return `${"  ".repeat(level)}${sign} `;
  }

  readInline(element: XmlElement): Inline {
    const inline: Inline = { text: "", boxes: [], notes: [] };
    this.#read(element, inline);
    inline.text = inline.text.replaceAll(/[\s\u00a0]+/g, " ").trim();
    return inline;
  }

  #read(element: XmlElement, inline: Inline): void {
    for (const child of elementsOf(element)) this.#readChild(child, inline);
  }

  #readChild(child: XmlElement, inline: Inline): void {
    const { name, attributes } = child;
    if (LEFT_OUT.has(name)) return;
    if (name === "t") inline.text += textIn(child);
    else if (name === "tab" || name === "br" || name === "cr" || name === "ptab") inline.text += " ";
    else if (name === "noBreakHyphen") inline.text += "-";
    else if (name === "sym") inline.text += readSymbol(attributes["char"]);
    else if (name === "r" && isHidden(child)) return;
    else if (name === "oMath") inline.text += ` ${writeEquation(child)} `;
    else if (name === "footnoteReference") this.#readNote(this.#parts.footnotes.get(attributes["id"] ?? ""), inline);
    else if (name === "endnoteReference") this.#readNote(this.#parts.endnotes.get(attributes["id"] ?? ""), inline);
    else if (name === "fldChar") inline.text += readFormField(child);
    else if (name === "drawing" || name === "pict") inline.boxes.push(...findBelow(child, "txbxContent"));
    else if (name === "AlternateContent") this.#read(chooseAlternative(child) ?? child, inline);
    else if (name === "sdt" && isPlaceholder(child)) return;
    else this.#read(child, inline);
  }

  /** A reference to a note that is missing is left out. */
  #readNote(note: XmlElement | undefined, inline: Inline): void {
    if (note === undefined) return;
    const number = ++this.#notes;
    inline.text += `[${number}]`;
    const texts = [...findBelow(note, "p")].map((paragraph) => this.readInline(paragraph).text);
    inline.notes.push(`[${number}] ${texts.join(" ").trim()}`);
  }
}

function isHidden(run: XmlElement): boolean {
  const vanish = findFirst(run, "rPr", "vanish");
  return vanish !== undefined && !/^(?:0|false|off)$/.test(vanish.attributes["val"] ?? "");
}

/** Symbol fonts have their characters in the private area of Unicode, where they have no meaning. */
function readSymbol(code = ""): string {
  const point = Number.parseInt(code, 16);
  return point > 32 && (point < 0xe000 || point > 0xf8ff) && point < 0xfffe ? String.fromCodePoint(point) : "";
}

/** A field that nobody has filled in shows what it asks for. */
function isPlaceholder(field: XmlElement): boolean {
  return findFirst(field, "sdtPr", "showingPlcHdr") !== undefined;
}

/** Returns the value of a box to tick, and of a list to choose from. Other fields have their value as text. */
function readFormField(field: XmlElement): string {
  const box = findFirst(field, "ffData", "checkBox");
  if (box !== undefined) {
    const state = (findFirst(box, "checked") ?? findFirst(box, "default"))?.attributes["val"];
    const isChecked = findFirst(box, "checked") !== undefined ? state !== "0" : state === "1";
    return isChecked ? "☒ " : "☐ ";
  }
  const list = findFirst(field, "ffData", "ddList");
  if (list === undefined) return "";
  const chosen = Number((findFirst(list, "result") ?? findFirst(list, "default"))?.attributes["val"] ?? 0);
  return elementsOf(list).filter(({ name }) => name === "listEntry")[chosen]?.attributes["val"] ?? "";
}
