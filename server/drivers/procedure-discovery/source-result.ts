import type { DiscoveredProcedure } from "../../../domain/ports/procedure-discovery.ts";

/** A procedure as the app describes it, not yet held to the caps. */
export type Candidate = DiscoveredProcedure;

/** What one source says. */
export interface Finding {
  candidates: Candidate[];
  /** What was left out, in words for the app's owner; text of the app is quoted. */
  problems: string[];
}

const QUOTED_CHARACTERS = 200;

/** Text of the app, marked as such. */
export function quoted(text: string): string {
  const shown = text.length > QUOTED_CHARACTERS ? `${text.slice(0, QUOTED_CHARACTERS)}…` : text;
  return JSON.stringify(shown.toWellFormed());
}

const NAMED = 5;

/** Some names as a list of quotations, and how many more there are. */
export function quotedList(names: readonly string[]): string {
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : "";
  return `${names.slice(0, NAMED).map(quoted).join(", ")}${more}`;
}
