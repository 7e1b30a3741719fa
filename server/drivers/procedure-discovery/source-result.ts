import type { DiscoveredProcedure } from "../../../domain/ports/procedure-discovery.ts";

/** What one source (a tRPC router, an OpenAPI document or an MCP endpoint) says about the procedures of an app. */
export interface SourceResult {
  /** As the app describes them, not validated yet. */
  candidates: DiscoveredProcedure[];
  /** Sentences for the owner of the app: what was left out, and why. Text that comes from the app is quoted. */
  problems: string[];
}

const MAX_QUOTED_CHARACTERS = 200;
const MAX_QUOTED_NAMES = 5;

/** Quotes text of the app as a JSON string, so that a reader can distinguish it from text of the service. */
export function quoteAppText(text: string): string {
  const shown = text.length > MAX_QUOTED_CHARACTERS ? `${text.slice(0, MAX_QUOTED_CHARACTERS)}…` : text;
  return JSON.stringify(shown.toWellFormed());
}

/** Quotes the first names, and says how many more there are. */
export function quoteList(names: readonly string[]): string {
  const more = names.length > MAX_QUOTED_NAMES ? ` and ${names.length - MAX_QUOTED_NAMES} more` : "";
  return `${names.slice(0, MAX_QUOTED_NAMES).map(quoteAppText).join(", ")}${more}`;
}
