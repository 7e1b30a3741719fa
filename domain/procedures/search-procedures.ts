import type { Caller } from "../caller.ts";
import { directTools } from "./direct-tools.ts";
import type { LiveProcedure } from "./list-procedures.ts";
import type { ProcedureIndex } from "./procedure-index.ts";
import { callSnippet } from "./call-snippet.ts";

export interface SearchDeps {
  caller: Caller;
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

/** As much of a description as a hit shows, in characters. */
const DESCRIPTION_SHOWN = 400;

/** The procedures of the organization's ready apps that fit a query, best first. Descriptions are the apps' own words. */
export async function searchProcedures(deps: SearchDeps, request: SearchRequest): Promise<{ hits: SearchHit[] }> {
  const offered = await deps.procedureIndex.of(deps.caller.orgId);
  const tools = new Map(directTools(offered.all, new Set()).map(({ name, procedure }) => [procedure, name]));
  const hits = offered.search.find(request.query, request.limit, request.app).map(({ procedure, score }) => ({
    app_id: procedure.appId,
    app: procedure.slug,
    procedure: procedure.name,
    kind: procedure.kind,
    description: procedure.description.slice(0, DESCRIPTION_SHOWN),
    snippet: callSnippet(procedure),
    direct_tool: tools.get(procedure) ?? null,
    score: Math.round(score * 100) / 100,
  }));
  return { hits };
}
