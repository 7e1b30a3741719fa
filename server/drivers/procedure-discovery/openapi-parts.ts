import type { DiscoveredProcedure } from "../../../domain/ports/procedure-discovery.ts";
import type { LeftOut, SourceResult } from "./source-result.ts";

/** Where `inside/read-openapi.ts` finds a document: in the repository, or in a response of the app. */
export type OpenApiRequest = { from: "repository"; root: string; file: string } | { from: "app"; text: string };

/** A part of a `SourceResult`. `isDocument` is false when there is none. */
export interface SourcePart {
  isDocument: boolean;
  candidates: DiscoveredProcedure[];
  problems: string[];
  leftOut: LeftOut[];
}

/** Receiving more at once would block the service. */
const PROCEDURES_PER_PART = 20;
const LEFT_OUT_PER_PART = 2000;

export function* toParts(result: SourceResult | null): Generator<SourcePart> {
  const { candidates = [], problems = [], leftOut = [] } = result ?? {};
  yield { isDocument: result !== null, candidates: [], problems, leftOut: [] };
  for (let at = 0; at < candidates.length; at += PROCEDURES_PER_PART)
    yield { isDocument: true, candidates: candidates.slice(at, at + PROCEDURES_PER_PART), problems: [], leftOut: [] };
  for (let at = 0; at < leftOut.length; at += LEFT_OUT_PER_PART)
    yield { isDocument: true, candidates: [], problems: [], leftOut: leftOut.slice(at, at + LEFT_OUT_PER_PART) };
}

/** @returns `null` when there is no document */
export function joinParts(parts: readonly SourcePart[]): SourceResult | null {
  if (!parts.some(({ isDocument }) => isDocument)) return null;
  return {
    candidates: parts.flatMap(({ candidates }) => candidates),
    problems: parts.flatMap(({ problems }) => problems),
    leftOut: parts.flatMap(({ leftOut }) => leftOut),
  };
}
