import { parse } from "csv-parse/sync";
import { type ReadLimits, TextCollector } from "./report.ts";
import { SheetWriter } from "./sheet-writer.ts";

const DELIMITERS = [",", ";", "\t", "|"];
const SAMPLE_LENGTH = 10_000;

/** Reads a table of values with separators. Its first row names the columns. */
export function readCsv(text: string, limits: ReadLimits): { title: null; text: string } {
  const rows = parse(text, {
    bom: true,
    delimiter: findDelimiter(text),
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
  });
  const collector = new TextCollector(limits);
  const writer = new SheetWriter("", collector);
  for (const [index, row] of rows.entries()) writer.addRow(index + 1, row);
  writer.finish();
  return { title: null, text: collector.finish() };
}

/** Returns the separator that the first lines have most often outside of quotes. */
function findDelimiter(text: string): string {
  const sample = text.slice(0, SAMPLE_LENGTH).replaceAll(/"[^"]*"/g, "");
  const [best = ","] = DELIMITERS.toSorted((a, b) => sample.split(b).length - sample.split(a).length);
  return best;
}
