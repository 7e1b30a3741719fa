import { RESPONSE_CHARACTERS, truncateText, takeWithinBudget } from "../shared/response-budget.ts";
import type { Caller } from "../shared/caller.ts";
import { callSnippet } from "./call-snippet.ts";
import type { LiveProcedure } from "./list-procedures.ts";
import type { ProcedureIndex } from "./procedure-index.ts";

export interface SearchDeps {
  procedureIndex: ProcedureIndex;
}

export interface SearchRequest {
  query: string;
  limit: number;
  /** Only procedures of the app with this slug. */
  app?: string | undefined;
}

export interface SearchHit {
  app_id: string;
  app: string;
  procedure: string;
  kind: LiveProcedure["kind"];
  description: string;
  snippet: string;
  /** The tool that calls it directly; `null` for a procedure of an app with more than a few. */
  direct_tool: string | null;
  score: number;
}

export interface SearchAnswer {
  hits: SearchHit[];
  /** How many hits were left out to keep the answer short, and how to narrow the search; `null` when none were. */
  cut: string | null;
}

/** As much of a description as a hit shows, in characters. */
const DESCRIPTION_SHOWN = 400;
/** What an answer holds beside its hits, in characters. */
const FRAME = 300;

/** The procedures of the organization's ready apps that fit a query, best first. Descriptions are the apps' own words. */
export async function searchProcedures(
  deps: SearchDeps,
  { orgId }: Caller,
  request: SearchRequest,
): Promise<SearchAnswer> {
  const offered = await deps.procedureIndex.get(orgId);
  const search = await offered.search;
  const found = search.find(request.query, request.limit, request.app).map(({ procedure, score }) => ({
    app_id: procedure.appId,
    app: procedure.slug,
    procedure: procedure.name,
    kind: procedure.kind,
    description: truncateText(procedure.description, DESCRIPTION_SHOWN),
    snippet: callSnippet(procedure),
    direct_tool: offered.toolNames.get(procedure) ?? null,
    score: Math.round(score * 100) / 100,
  }));
  const hits = takeWithinBudget(found, RESPONSE_CHARACTERS - FRAME);
  return { hits, cut: cutTo(hits.length, found.length) };
}

function cutTo(shown: number, found: number): string | null {
  if (shown === found) return null;
  return `Only the best ${shown} of ${found} hits are here, so that the answer stays short. Search with more specific words, or in one app (app: its slug).`;
}
