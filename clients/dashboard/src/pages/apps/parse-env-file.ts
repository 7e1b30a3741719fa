/** A line of a `.env` file, or a text that is none. */
export interface EnvFile {
  variables: { name: string; value: string }[];
  /** The numbers of the lines that are not understood. */
  problems: number[];
}

/** An assignment, whose value may be quoted and then have several lines. */
const ASSIGNMENT =
  /^\s*(?:export\s+)?([A-Za-z_][\w.-]*)\s*=[^\S\n]*(?:'([^']*)'|"((?:\\.|[^"\\])*)"|`([^`]*)`|([^\n#]*?(?:(?<!\s)#[^\n#]*)*))[^\S\n]*(?:#[^\n]*)?$/;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/** Reads the text of a `.env` file as dotenv does: comments, `export`, and values in quotes with several lines. */
export function parseEnvFile(text: string): EnvFile {
  const lines = text.replaceAll(/\r\n?/g, "\n").split("\n");
  const values = new Map<string, string>();
  const problems: number[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? "";
    if (/^\s*(#.*)?$/.test(line)) {
      at += 1;
      continue;
    }
    const { end, match } = readAssignment(lines, at);
    const [, name, single, double, backticks, plain = ""] = match ?? [];
    if (name === undefined) problems.push(at + 1);
    else values.set(name, single ?? backticks ?? (double === undefined ? plain.trim() : unescapeText(double)));
    at = end;
  }
  return { variables: [...values].map(([name, value]) => ({ name, value })), problems };
}

/** A value that starts with a quote goes on until the next one, if there is one. */
function readAssignment(lines: readonly string[], start: number): { end: number; match: RegExpExecArray | null } {
  const first = lines[start] ?? "";
  const match = ASSIGNMENT.exec(first);
  const quote = /=\s*(["'`])/.exec(first)?.[1];
  if (quote === undefined || (match !== null && match[5] === undefined)) return { end: start + 1, match };
  for (let end = start + 1; end < lines.length; end += 1) {
    if (lines[end]?.includes(quote) !== true) continue;
    const joined = ASSIGNMENT.exec(lines.slice(start, end + 1).join("\n"));
    if (joined !== null && joined[5] === undefined) return { end: end + 1, match: joined };
  }
  return { end: start + 1, match };
}

function unescapeText(text: string): string {
  return text.replaceAll(/\\(.)/gs, (_, character: string) => ESCAPES[character] ?? character);
}
