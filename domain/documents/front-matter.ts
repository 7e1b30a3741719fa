import type { TextRange } from "./find-sentences.ts";

/** What a document says about itself before its text, in YAML or TOML. */
export interface FrontMatter {
  /** With the lines that enclose it. */
  range: TextRange;
  title: string | null;
}

/** A longer block is text. */
const MAX_LENGTH = 20_000;

/** The line that opens and closes the front matter, and how a field begins. */
const FORMATS = [
  {
    open: "---",
    close: /^(?:---|\.\.\.)[ \t]*$/,
    field: /^[\w"'][\w .@"'-]*:(?:\s|$)/,
    title: /^["']?title["']?\s*:(.*)$/i,
  },
  { open: "+++", close: /^\+\+\+[ \t]*$/, field: /^[\w"'.-]+\s*=|^\[/, title: /^["']?title["']?\s*=(.*)$/i },
] as const;

/**
 * Finds the front matter at the beginning of a text. Returns `null` for a text without one, such as one that begins with a rule,
 * and for one that has nothing below it.
 */
export function findFrontMatter(text: string): FrontMatter | null {
  const beginning = text.slice(0, MAX_LENGTH);
  const start = beginning.length - beginning.replace(/^[\s\ufeff]+/, "").length;
  const format = FORMATS.find(({ open }) => beginning.startsWith(open, start));
  if (format === undefined) return null;
  const lines = beginning.slice(start).split("\n");
  if (lines[0]?.trim() !== format.open) return null;
  const end = lines.findIndex((line, index) => index > 0 && format.close.test(line.trimEnd()));
  const fields = lines.slice(1, Math.max(1, end));
  const first = fields.find((line) => line.trim() !== "" && !line.startsWith("#"));
  if (end < 0 || (first !== undefined && !format.field.test(first))) return null;
  const length = lines.slice(0, end + 1).join("\n").length;
  if (text.slice(start + length).trim() === "") return null;
  return { range: { start, end: start + length }, title: readTitle(fields, format.title) };
}

/** Reads the title, which may go on in indented lines. */
function readTitle(lines: readonly string[], field: RegExp): string | null {
  const index = lines.findIndex((line) => field.test(line));
  if (index < 0) return null;
  const first = (field.exec(lines[index] ?? "")?.[1] ?? "").trim();
  const others = lines.slice(index + 1);
  const more = others.slice(0, others.findIndex((line) => !/^\s+\S/.test(line)) >>> 0).map((line) => line.trim());
  const value = [/^[>|][+-]?\d*$/.test(first) ? "" : first, ...more].join(" ").trim();
  const title = unquote(value);
  return title === "" || /^(?:null|~)$/.test(title) ? null : title;
}

function unquote(value: string): string {
  const [, quote = "", quoted = ""] = /^("""|"|')(.*?)\1\s*(?:#.*)?$/.exec(value) ?? [];
  if (quote === "") return value.replace(/\s#.*$/, "").trim();
  if (quote === "'") return quoted.replaceAll("''", "'").trim();
  return quoted.replaceAll(/\\(["\\/])/g, "$1").trim();
}
