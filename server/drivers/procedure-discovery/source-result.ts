import type { DiscoveredProcedure } from "../../../domain/ports/procedure-discovery.ts";

/** What one source (a tRPC router, an OpenAPI document or an MCP endpoint) says about the procedures of an app. */
export interface SourceResult {
  /** As the app describes them, not validated yet. */
  candidates: DiscoveredProcedure[];
  /** Sentences for the owner of the app. Text that comes from the app is quoted. */
  problems: string[];
  /** What the app describes and agents cannot call. */
  leftOut?: LeftOut[];
}

export interface LeftOut {
  /** As the app names it. */
  name: string;
  /** A part of a sentence. Text that comes from the app is quoted. */
  reason: string;
}

const MAX_QUOTED_CHARACTERS = 200;
const MAX_QUOTED_NAMES = 5;

/** Quotes text of the app as a JSON string, so that a reader can distinguish it from text of the service. */
export function quoteAppText(text: string, maxCharacters = MAX_QUOTED_CHARACTERS): string {
  const shown = text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text;
  return JSON.stringify(shown.toWellFormed());
}

/** Quotes the first names, and says how many more there are. */
export function quoteList(names: readonly string[]): string {
  const more = names.length > MAX_QUOTED_NAMES ? ` and ${names.length - MAX_QUOTED_NAMES} more` : "";
  return `${names
    .slice(0, MAX_QUOTED_NAMES)
    .map((name) => quoteAppText(name))
    .join(", ")}${more}`;
}

/** The number of procedures that a summary names. */
const MAX_SUMMARIZED = 10;
const MAX_SUMMARIZED_CHARACTERS = 80;

/** Counts what was left out, and names the first ten with the reasons; `null` when nothing was. */
export function summarizeLeftOut(leftOut: readonly LeftOut[]): string | null {
  if (leftOut.length === 0) return null;
  const first = Map.groupBy(leftOut.slice(0, MAX_SUMMARIZED), ({ reason }) => reason);
  const groups = [...first].map(([reason, items]) => {
    const names = items.map(({ name }) => quoteAppText(name, MAX_SUMMARIZED_CHARACTERS));
    return `${names.join(", ")} (${reason})`;
  });
  const more = leftOut.length - MAX_SUMMARIZED;
  const rest = more > 0 ? ` and ${more} more. The build log lists all.` : ".";
  return `Left out ${leftOut.length}: ${groups.join("; ")}${rest}`;
}

/** One line for each that was left out, until the lines have `maxCharacters`. */
export function listLeftOut(leftOut: readonly LeftOut[], maxCharacters: number): string[] {
  const lines: string[] = [];
  let characters = 0;
  for (const { name, reason } of leftOut) {
    const line = `Left out ${quoteAppText(name)}: ${reason}.`;
    characters += line.length;
    if (characters > maxCharacters) return [...lines, `Left out ${leftOut.length - lines.length} more.`];
    lines.push(line);
  }
  return lines;
}
