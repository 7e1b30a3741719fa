import { stripAnsi } from "./ansi.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** One message of a log. It is text of an app or a build. */
export interface LogLine {
  /** Unique in the log, and ascending. */
  id: number;
  text: string;
  /** RFC 3339. Lines of a build have no time. */
  time?: string;
  level?: LogLevel;
  /** The `X-Request-Id` of the request during which the app printed it; `null` outside of requests. */
  requestId?: string | null;
}

/** The lines as a text, for the clipboard or a file. */
export function toText(lines: readonly LogLine[]): string {
  return lines.map((line) => `${formatLine(line)}\n`).join("");
}

function formatLine({ time, level, text }: LogLine): string {
  const prefix = time === undefined ? "" : `${time} ${(level ?? "").padEnd(5)} `;
  return prefix + stripAnsi(text);
}

/** Returns the indices of the lines that contain a text, in any case; none for an empty text. */
export function findLines(lines: readonly LogLine[], query: string): number[] {
  const wanted = query.toLowerCase();
  if (wanted === "") return [];
  const found: number[] = [];
  for (const [index, { text }] of lines.entries())
    if (stripAnsi(text).toLowerCase().includes(wanted)) found.push(index);
  return found;
}

/** Splits a text at each occurrence of a query. The parts with an odd index are the occurrences. */
export function splitByQuery(text: string, query: string): string[] {
  if (query === "") return [text];
  const [lower, wanted] = [text.toLowerCase(), query.toLowerCase()];
  // Some characters are longer in lower case, so positions in both texts would differ.
  if (lower.length !== text.length) return [text];
  const parts: string[] = [];
  let start = 0;
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, start)) {
    parts.push(text.slice(start, at), text.slice(at, at + wanted.length));
    start = at + wanted.length;
  }
  return [...parts, text.slice(start)];
}
