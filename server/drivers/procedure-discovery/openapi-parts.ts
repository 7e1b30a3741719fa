import type { DiscoveredProcedure } from "../../../domain/ports/procedure-discovery.ts";
import type { LeftOut, SourceResult } from "./source-result.ts";

/** Where `inside/read-openapi.ts` finds a document: in the repository, or in a response of the app. */
export type OpenApiRequest = { from: "repository"; root: string; file: string } | { from: "app"; text: string };

/** Of a document together with the files that it refers to. */
export const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;

/** A part of a `SourceResult`. `isDocument` is false when there is none. */
export interface SourcePart {
  isDocument: boolean;
  candidates: DiscoveredProcedure[];
  problems: string[];
  leftOut: LeftOut[];
}

/** Receiving more at once would block the service. In characters of JSON. */
const PART_SIZE = 256 * 1024;

export function* toParts(result: SourceResult | null): Generator<SourcePart> {
  const { candidates = [], problems = [], leftOut = [] } = result ?? {};
  const empty = { candidates: [], problems: [], leftOut: [] };
  yield { ...empty, isDocument: result !== null, problems };
  for (const group of groupBySize(candidates)) yield { ...empty, isDocument: true, candidates: group };
  for (const group of groupBySize(leftOut)) yield { ...empty, isDocument: true, leftOut: group };
}

function* groupBySize<T>(items: readonly T[]): Generator<T[]> {
  let group: T[] = [];
  let size = 0;
  for (const item of items) {
    group.push(item);
    size += JSON.stringify(item).length;
    if (size < PART_SIZE) continue;
    yield group;
    group = [];
    size = 0;
  }
  if (group.length > 0) yield group;
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
