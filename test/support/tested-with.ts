import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

/** A row of the table "Tested with" of a page in docs. */
export interface TestedRow {
  /** The client, tool or group of projects. Replaces the row with the same name. */
  name: string;
  version: string;
  /** Markdown. */
  works: string;
  /** Plain text, which may come from a third party. */
  limits: readonly string[];
}

const DOCS = path.join(import.meta.dirname, "../../docs");
const HEADER = /^## Tested with\n(?:[^|#]*\n)?\|.*\|\n\|(?:---\|)+\n/m;
const MAX_LIMIT_CHARACTERS = 200;

/** Replaces rows of the table in `docs/<page>`, and adds those that are new. All other rows and texts stay. */
export async function writeTestedRows(page: string, rows: readonly TestedRow[]): Promise<void> {
  const file = path.join(DOCS, page);
  await writeFile(file, replaceTestedRows(await readFile(file, "utf8"), rows));
}

/** @throws if the text has no section "Tested with" that begins with a table */
export function replaceTestedRows(text: string, rows: readonly TestedRow[]): string {
  const header = HEADER.exec(text);
  if (header === null) throw new Error("The page has no table in a section named Tested with");
  const before = text.slice(0, header.index + header[0].length);
  const [table = ""] = /^(?:\|.*\n)*/.exec(text.slice(before.length)) ?? [];
  const byName = new Map(table.split("\n").flatMap((row) => (row === "" ? [] : [[nameOfRow(row), row] as const])));
  for (const row of rows) byName.set(row.name, renderRow(row));
  return `${before}${[...byName.values()].map((row) => `${row}\n`).join("")}${text.slice(before.length + table.length)}`;
}

const nameOfRow = (row: string) => row.split(" | ")[0]?.slice(2) ?? "";

function renderRow({ name, version, works, limits }: TestedRow): string {
  return `| ${[name, version, works, limits.map(plain).join("; ")].join(" | ")} |`;
}

/** One line in which nothing is Markdown. */
function plain(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  const cut = line.length > MAX_LIMIT_CHARACTERS ? `${line.slice(0, MAX_LIMIT_CHARACTERS)}…` : line;
  return cut.replaceAll(/[|<>*_`[\]]/g, (sign) => `\\${sign}`);
}
