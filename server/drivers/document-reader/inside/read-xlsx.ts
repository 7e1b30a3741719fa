import { format } from "numfmt";
import { type OfficeArchive, readCoreTitle, readRelations, targetOf } from "./office-archive.ts";
import { type ReadLimits, RefusedFile, TextCollector } from "./report.ts";
import { SheetWriter } from "./sheet-writer.ts";
import { elementsOf, findAll, findBelow, findFirst, parseXml, textIn, type XmlElement } from "./xml.ts";

/** The formats of numbers that every file can use without declaring them (ECMA-376 part 1, section 18.8.30). */
const FORMATS: Readonly<Record<number, string>> = {
  1: "0",
  2: "0.00",
  3: "#,##0",
  4: "#,##0.00",
  9: "0%",
  10: "0.00%",
  11: "0.00E+00",
  14: "yyyy-mm-dd",
  15: "d-mmm-yy",
  16: "d-mmm",
  17: "mmm-yy",
  18: "h:mm AM/PM",
  19: "h:mm:ss AM/PM",
  20: "h:mm",
  21: "h:mm:ss",
  22: "yyyy-mm-dd h:mm",
  37: "#,##0",
  38: "#,##0",
  39: "#,##0.00",
  40: "#,##0.00",
  45: "mm:ss",
  46: "[h]:mm:ss",
  49: "@",
};

interface Workbook {
  strings: string[];
  /** The format of the cells of each style. */
  formats: string[];
  /** Dates count from 1904. */
  is1904: boolean;
}

/**
 * Reads an XLSX file (ECMA-376 part 1, SpreadsheetML): each sheet is a section, and its rows are tables with the names of the columns. Cells
 * have the text that the program shows. Hidden sheets, rows and columns are left out, and formulas are not calculated.
 */
export async function readXlsx(
  archive: OfficeArchive,
  limits: ReadLimits,
): Promise<{ title: string | null; text: string }> {
  const main = targetOf(await readRelations(archive, ""), "officeDocument") ?? "xl/workbook.xml";
  const xml = await archive.readXml(main);
  const root = xml && findFirst(xml, "workbook");
  if (!root) throw new RefusedFile("damaged");
  const relations = await readRelations(archive, main);
  const part = async (type: string): Promise<XmlElement | null> => archive.readXml(targetOf(relations, type) ?? "");
  const workbook: Workbook = {
    strings: readStrings(await part("sharedStrings")),
    formats: readFormats(await part("styles")),
    is1904: /^(?:1|true)$/.test(findFirst(root, "workbookPr")?.attributes["date1904"] ?? ""),
  };
  const collector = new TextCollector(limits);
  for (const { attributes, relation } of findAll(root, "sheets", "sheet")) {
    const name = relations.get(relation ?? "")?.target;
    const text = (attributes["state"] ?? "visible") === "visible" && name ? await archive.readText(name) : null;
    if (text !== null) writeSheet(text, attributes["name"] ?? "", workbook, collector);
  }
  return { title: await readCoreTitle(archive), text: collector.finish() };
}

function readStrings(xml: XmlElement | null): string[] {
  const items = xml === null ? [] : findAll(xml, "sst", "si");
  return items.map(readRichText);
}

/** Returns a text without the help for its pronunciation. */
function readRichText(item: XmlElement): string {
  return elementsOf(item)
    .map((element) => {
      if (element.name === "t") return textIn(element);
      return element.name === "r" ? findAll(element, "t").map(textIn).join("") : "";
    })
    .join("");
}

function readFormats(xml: XmlElement | null): string[] {
  const root = xml && findFirst(xml, "styleSheet");
  if (!root) return [];
  const own = new Map(
    findAll(root, "numFmts", "numFmt").map(({ attributes }) => [attributes["numFmtId"], attributes["formatCode"]]),
  );
  return findAll(root, "cellXfs", "xf").map(({ attributes: { numFmtId = "0" } }) => {
    return own.get(numFmtId) ?? FORMATS[Number(numFmtId)] ?? "General";
  });
}

function writeSheet(xml: string, name: string, workbook: Workbook, collector: TextCollector): void {
  const writer = new SheetWriter(name, collector);
  const hidden = hiddenColumns(xml);
  parseXml(xml, {
    name: "row",
    onElement: (row) => {
      if (/^(?:1|true)$/.test(row.attributes["hidden"] ?? "")) return;
      const cells: string[] = [];
      for (const cell of findAll(row, "c")) {
        const column = columnOf(cell.attributes["r"], cells.length);
        if (!hidden(column)) cells[column] = readCell(cell, workbook);
      }
      writer.addRow(Number(row.attributes["r"] ?? 0), cells);
    },
  });
  writer.finish();
}

/** The columns stand before the rows, which can be many. */
function hiddenColumns(xml: string): (column: number) => boolean {
  const end = xml.indexOf("</cols>");
  const start = xml.lastIndexOf("<cols", end);
  if (end < 0 || start < 0) return () => false;
  const columns = [...findBelow(parseXml(xml.slice(start, end + "</cols>".length)), "col")];
  const ranges = columns.filter(({ attributes: { hidden = "" } }) => /^(?:1|true)$/.test(hidden));
  return (column) =>
    ranges.some(({ attributes: { min, max } }) => column + 1 >= Number(min) && column + 1 <= Number(max));
}

/** Returns the number of the column of a cell such as `BC7`, from 0 on. */
function columnOf(reference = "", preset: number): number {
  const letters = /^[A-Z]{1,3}/.exec(reference)?.[0];
  if (letters === undefined) return preset;
  return letters.split("").reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

function readCell(cell: XmlElement, workbook: Workbook): string {
  const inline = findFirst(cell, "is");
  if (inline !== undefined) return readRichText(inline);
  const element = findFirst(cell, "v");
  const value = element === undefined ? "" : textIn(element);
  if (value === "") return "";
  switch (cell.attributes["t"]) {
    case "s":
      return workbook.strings[Number(value)] ?? "";
    case "b":
      return value === "1" ? "TRUE" : "FALSE";
    case "e":
      return "";
    case "str":
    case "d":
      return value;
    default:
      return formatNumber(value, workbook.formats[Number(cell.attributes["s"] ?? 0)] ?? "General", workbook.is1904);
  }
}

function formatNumber(value: string, pattern: string, is1904: boolean): string {
  const number = Number(value);
  if (!Number.isFinite(number)) return value;
  try {
    return format(pattern, is1904 ? number + daysUntil1904(pattern) : number, { throws: true }).trim();
  } catch {
    return String(number);
  }
}

/** A format with days, months or years is one of dates. */
function daysUntil1904(pattern: string): number {
  return /[dy]/i.test(pattern.replaceAll(/"[^"]*"|\[[^\]]*\]/g, "")) ? 1462 : 0;
}
