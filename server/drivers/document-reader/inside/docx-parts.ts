import { type OfficeArchive, readRelations, targetOf } from "./office-archive.ts";
import { findAll, findFirst, type XmlElement } from "./xml.ts";

/** How a style makes its paragraphs look. */
export interface DocxStyle {
  /** 1 to 6; `null` for text. */
  headingLevel: number | null;
  isTitle: boolean;
  numbering: XmlElement | undefined;
}

export interface DocxParts {
  document: XmlElement;
  styles: ReadonlyMap<string, DocxStyle>;
  /** Whether the items of a list have numbers, by its id and level. */
  isNumbered(listId: string, level: number): boolean;
  /** The content of footnotes and endnotes by their ids. */
  footnotes: ReadonlyMap<string, XmlElement>;
  endnotes: ReadonlyMap<string, XmlElement>;
}

const MAX_INHERITANCE = 20;

/** Reads the parts of a DOCX file. A part that is missing is empty. Returns `null` without the document. */
export async function readDocxParts(archive: OfficeArchive): Promise<DocxParts | null> {
  const main = targetOf(await readRelations(archive, ""), "officeDocument") ?? "word/document.xml";
  const document = await archive.readXml(main);
  if (document === null) return null;
  const relations = await readRelations(archive, main);
  const read = async (type: string): Promise<XmlElement | null> => {
    const name = targetOf(relations, type) ?? `word/${type}.xml`;
    return archive.has(name) ? archive.readXml(name) : null;
  };
  return {
    document,
    styles: readStyles(await read("styles")),
    isNumbered: readNumbering(await read("numbering")),
    footnotes: readNotes(await read("footnotes"), "footnote"),
    endnotes: readNotes(await read("endnotes"), "endnote"),
  };
}

function readStyles(xml: XmlElement | null): Map<string, DocxStyle> {
  const elements = xml === null ? [] : findAll(xml, "styles", "style");
  const byId = new Map(elements.map((style) => [style.attributes["styleId"] ?? "", style]));
  return new Map([...byId.keys()].map((id) => [id, describeStyle(id, byId)]));
}

function describeStyle(id: string, byId: ReadonlyMap<string, XmlElement>): DocxStyle {
  const found: DocxStyle = { headingLevel: null, isTitle: false, numbering: undefined };
  let next: string | undefined = id;
  for (let depth = 0; next !== undefined && depth < MAX_INHERITANCE; depth++) {
    const style = byId.get(next);
    if (style === undefined) break;
    const own = describeName(findFirst(style, "name")?.attributes["val"] ?? next);
    const outline = findFirst(style, "pPr", "outlineLvl")?.attributes["val"];
    const level = outline === undefined ? own.headingLevel : Number(outline) + 1;
    if (level !== null && level <= 6) found.headingLevel ??= level;
    found.isTitle ||= own.isTitle && depth === 0;
    found.numbering ??= findFirst(style, "pPr", "numPr");
    next = findFirst(style, "basedOn")?.attributes["val"];
  }
  return found;
}

/** Describes one of the styles that every file of Word can use. Their names are English in every language. */
export function describeName(name: string): Pick<DocxStyle, "headingLevel" | "isTitle"> {
  const isTitle = /^title$/i.test(name);
  const level = /^heading\s*([1-6])$/i.exec(name)?.[1];
  return { isTitle, headingLevel: isTitle ? 1 : level === undefined ? null : Number(level) };
}

function readNumbering(xml: XmlElement | null): DocxParts["isNumbered"] {
  const lists = xml === null ? [] : findAll(xml, "numbering", "abstractNum");
  const byId = new Map(lists.map((list) => [list.attributes["abstractNumId"], list]));
  const nums = xml === null ? [] : findAll(xml, "numbering", "num");
  const byListId = new Map(
    nums.map((num) => [num.attributes["numId"], byId.get(findFirst(num, "abstractNumId")?.attributes["val"])]),
  );
  return (listId, level) => {
    const list = byListId.get(listId);
    const found = list && findAll(list, "lvl").find(({ attributes }) => Number(attributes["ilvl"]) === level);
    const format = found && findFirst(found, "numFmt")?.attributes["val"];
    return format !== undefined && format !== "bullet" && format !== "none";
  };
}

function readNotes(xml: XmlElement | null, name: string): Map<string, XmlElement> {
  const notes = xml === null ? [] : findAll(xml, `${name}s`, name);
  // Others are the lines between text and notes.
  const shown = notes.filter(({ attributes: { type = "normal" } }) => type === "normal");
  return new Map(shown.map((note) => [note.attributes["id"] ?? "", note]));
}
