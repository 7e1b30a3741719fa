import { type OfficeArchive, readCoreTitle, readRelations, type Relations, targetOf } from "./office-archive.ts";
import { writeEquation } from "./office-equations.ts";
import { type ReadLimits, RefusedFile, TextCollector } from "./report.ts";
import { chooseAlternative, elementsOf, findAll, findBelow, findFirst, textIn, type XmlElement } from "./xml.ts";

/** Placeholders that the layout repeats on every slide. */
const REPEATED = new Set(["dt", "ftr", "sldNum", "hdr", "sldImg"]);
const TITLES = new Set(["title", "ctrTitle"]);

/**
 * Reads a PPTX file (ECMA-376 part 1, PresentationML): each slide is a section with its title as heading, and with the notes of the speaker.
 * Hidden slides are left out.
 */
export async function readPptx(
  archive: OfficeArchive,
  limits: ReadLimits,
): Promise<{ title: string | null; text: string }> {
  const main = targetOf(await readRelations(archive, ""), "officeDocument") ?? "ppt/presentation.xml";
  const presentation = await archive.readXml(main);
  if (presentation === null) throw new RefusedFile("damaged");
  const relations = await readRelations(archive, main);
  const collector = new TextCollector(limits);
  let first: string | null = null;
  for (const { relation } of findAll(presentation, "presentation", "sldIdLst", "sldId")) {
    const name = relations.get(relation ?? "")?.target;
    const slide = name === undefined ? null : await archive.readXml(name);
    const root = slide && findFirst(slide, "sld");
    if (name === undefined || !root || root.attributes["show"] === "0") continue;
    const title = await writeSlide(archive, { name, root }, collector);
    first ??= title;
  }
  return { title: (await readCoreTitle(archive)) ?? first, text: collector.finish() };
}

async function writeSlide(
  archive: OfficeArchive,
  { name, root }: { name: string; root: XmlElement },
  collector: TextCollector,
): Promise<string | null> {
  const relations = await readRelations(archive, name);
  const tree = findFirst(root, "cSld", "spTree");
  const shapes = tree === undefined ? [] : listShapes(tree);
  const heading = shapes.find((shape) => TITLES.has(placeholderOf(shape) ?? ""));
  const title =
    heading === undefined
      ? ""
      : paragraphsOf(heading)
          .map(({ text }) => text)
          .join(" ")
          .trim();
  if (title !== "") collector.add(`## ${title}`);
  for (const shape of shapes) {
    if (shape === heading) continue;
    if (shape.name === "graphicFrame") await writeFrame(archive, relations, shape, collector);
    else writeShape(shape, collector);
  }
  const notes = targetOf(relations, "notesSlide");
  const page = notes === null ? null : await archive.readXml(notes);
  const body = page && findFirst(page, "notes", "cSld", "spTree");
  for (const shape of body ? listShapes(body) : []) if (placeholderOf(shape) === "body") writeShape(shape, collector);
  return title === "" ? null : title;
}

/** Returns the shapes of a slide, also those in groups. */
function listShapes(parent: XmlElement): XmlElement[] {
  return elementsOf(parent).flatMap((element) => {
    if (element.name === "grpSp") return listShapes(element);
    if (element.name === "AlternateContent") return listShapes(chooseAlternative(element) ?? element);
    return element.name === "sp" || element.name === "graphicFrame" ? [element] : [];
  });
}

/** Returns `undefined` for a shape that is no placeholder of the layout. */
function placeholderOf(shape: XmlElement): string | undefined {
  const placeholder = findFirst(shape, "nvSpPr", "nvPr", "ph");
  return placeholder && (placeholder.attributes["type"] ?? "body");
}

function writeShape(shape: XmlElement, collector: TextCollector): void {
  const kind = placeholderOf(shape);
  if (kind !== undefined && REPEATED.has(kind)) return;
  const paragraphs = paragraphsOf(shape);
  const isList = kind !== undefined && kind !== "subTitle" && paragraphs.length > 1;
  for (const { text, level, hasBullet } of paragraphs)
    collector.add(isList || hasBullet ? `${"  ".repeat(level)}- ${text}` : text.replace(/^#/, String.raw`\#`));
}

function paragraphsOf(shape: XmlElement): { text: string; level: number; hasBullet: boolean }[] {
  const body = findFirst(shape, "txBody");
  const paragraphs = body === undefined ? [] : findAll(body, "p");
  return paragraphs
    .map((paragraph) => {
      const properties = findFirst(paragraph, "pPr");
      const level = Math.min(8, Number(properties?.attributes["lvl"] ?? 0) || 0);
      const bullets = properties ? elementsOf(properties).filter(({ name }) => /^bu(?:Char|AutoNum)$/.test(name)) : [];
      return { text: readParagraph(paragraph), level, hasBullet: bullets.length > 0 };
    })
    .filter(({ text }) => text !== "");
}

function readParagraph(paragraph: XmlElement): string {
  const read = (element: XmlElement): string => {
    if (element.name === "t") return textIn(element);
    if (element.name === "br" || element.name === "tab") return " ";
    if (element.name === "oMath") return ` ${writeEquation(element)} `;
    if (element.name === "AlternateContent")
      return elementsOf(chooseAlternative(element) ?? element)
        .map(read)
        .join("");
    return elementsOf(element).map(read).join("");
  };
  return read(paragraph)
    .replaceAll(/[\s\u00a0]+/g, " ")
    .trim();
}

/** Writes a table, or the texts of a diagram. */
async function writeFrame(
  archive: OfficeArchive,
  relations: Relations,
  frame: XmlElement,
  collector: TextCollector,
): Promise<void> {
  for (const table of findBelow(frame, "tbl")) {
    collector.beginTable();
    const hasHeader = findFirst(table, "tblPr")?.attributes["firstRow"] === "1";
    for (const [index, row] of findAll(table, "tr").entries()) {
      const cells = findAll(row, "tc").map((cell) =>
        paragraphsOf(cell)
          .map(({ text }) => text)
          .join(" "),
      );
      if (cells.every((cell) => cell === "")) continue;
      collector.addRow(cells);
      if (index === 0 && hasHeader) collector.addRow(cells.map(() => "---"));
    }
  }
  for (const { relation } of findBelow(frame, "relIds")) {
    const name = relations.get(relation ?? "")?.target;
    const data = name === undefined ? null : await archive.readXml(name);
    for (const paragraph of data === null ? [] : findBelow(data, "p")) {
      const text = readParagraph(paragraph);
      if (text !== "") collector.add(`- ${text}`);
    }
  }
}
