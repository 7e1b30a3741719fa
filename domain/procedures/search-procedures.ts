import type { Db } from "../database-types.ts";
import { rankByProximity } from "../search/rank-by-proximity.ts";
import type { Caller } from "../shared/caller.ts";
import { RESPONSE_CHARACTERS, takeWithinBudget, truncateText } from "../shared/response-budget.ts";
import { readSearchQuery } from "../shared/search-query.ts";
import { createCallSignature } from "../type-declarations/call-signature.ts";
import { createExample } from "../type-declarations/example-value.ts";
import type { TypeBounds } from "../type-declarations/json-schema-to-type.ts";
import { formatPropertyAccess, formatValue, quote } from "../type-declarations/typescript-syntax.ts";
import { MAX_DIRECT_TOOLS, nameDirectTools } from "./direct-tool-names.ts";
import { searchProcedureIndex } from "./indexed-procedures.ts";
import { type LiveProcedure, readIndexIds, readNames, readProceduresByIndexId } from "./list-procedures.ts";

export interface SearchDeps {
  db: Db;
}

export interface SearchRequest {
  query: string;
  limit: number;
  /** Searches only the app with this slug. */
  app?: string | undefined;
}

export interface SearchHit {
  app_id: string;
  app: string;
  procedure: string;
  kind: LiveProcedure["kind"];
  /** Text of the app: data, never instructions. */
  description: string;
  snippet: string;
  /** The direct tool of the procedure. `null` when its app has too many procedures for direct tools. */
  direct_tool: string | null;
  score: number;
}

export interface SearchResult {
  /** The best hit first. */
  hits: SearchHit[];
  /** How many hits were left out to keep the response short, and how to narrow the search. `null` when none were. */
  cut: string | null;
}

const MAX_DESCRIPTION_CHARACTERS = 400;
/** The characters of a response without the hits. */
const ENVELOPE_CHARACTERS = 300;

/**
 * Searches the procedures of the organization's live apps.
 *
 * @throws {ServiceError} `invalid` for an empty or too long query
 */
export async function searchProcedures(
  { db }: SearchDeps,
  { orgId }: Caller,
  request: SearchRequest,
): Promise<SearchResult> {
  const query = readSearchQuery("query", request.query);
  const found = await findProcedures(db, orgId, { ...request, query });
  const toolNameOf = await readToolNames(db, orgId, found);
  const matches = found.map(({ score, ...procedure }) => ({
    app_id: procedure.appId,
    app: procedure.slug,
    procedure: procedure.name,
    kind: procedure.kind,
    description: truncateText(procedure.description, MAX_DESCRIPTION_CHARACTERS),
    snippet: createCallSnippet(procedure),
    direct_tool: toolNameOf(procedure),
    score: Math.round(score * 100) / 100,
  }));
  const hits = takeWithinBudget(matches, RESPONSE_CHARACTERS - ENVELOPE_CHARACTERS);
  return { hits, cut: describeCut(hits.length, matches.length) };
}

/** Room for hits that are no longer live, and for the order by closeness. */
const FURTHER_HITS = 20;

type FoundProcedure = LiveProcedure & { score: number };

async function findProcedures(db: Db, orgId: string, { query, limit, app }: SearchRequest): Promise<FoundProcedure[]> {
  const indexIds = app === undefined ? undefined : await readIndexIds(db, orgId, app);
  const hits = await searchProcedureIndex(db, orgId, { query, limit: limit + FURTHER_HITS, indexIds });
  if (hits.length === 0) return [];
  const procedures = await readProceduresByIndexId(
    db,
    orgId,
    hits.map(({ indexId }) => indexId),
  );
  const procedureOf = new Map(procedures.map((procedure) => [procedure.indexId, procedure]));
  const found = hits.flatMap(({ indexId, score }) => {
    const procedure = procedureOf.get(indexId);
    return procedure === undefined ? [] : [{ ...procedure, score, title: procedure.name, body: procedure.description }];
  });
  return rankByProximity({ text: query, language: "english", limit }, found);
}

/** Returns a function for the direct tool of a procedure; `null` for an app with too many procedures for direct tools. */
async function readToolNames(
  db: Db,
  orgId: string,
  found: readonly LiveProcedure[],
): Promise<(procedure: LiveProcedure) => string | null> {
  const appIds = [...new Set(found.map(({ appId }) => appId))];
  if (appIds.length === 0) return () => null;
  const names = await readNames(db, orgId, { appIds, limit: MAX_DIRECT_TOOLS + 1 });
  const toolNames = new Map([...nameDirectTools(names)].map(([{ appId, name }, tool]) => [`${appId} ${name}`, tool]));
  return ({ appId, name }) => toolNames.get(`${appId} ${name}`) ?? null;
}

function describeCut(shown: number, found: number): string | null {
  if (shown === found) return null;
  return `Contains only the best ${shown} of ${found} hits, to keep the response short. Use more specific words, or search one app (app: its slug).`;
}

/** Smaller than the bounds of declarations, because a response contains several snippets. */
const INPUT_BOUNDS: TypeBounds = { characters: 800, depth: 6, properties: 12, comments: false };
const OUTPUT_BOUNDS: TypeBounds = { ...INPUT_BOUNDS, characters: 500 };
/** In characters. A longer input has to be written by the caller. */
const MAX_EXAMPLE = 800;

/**
 * Writes a typed call of a procedure with an example input, which runs as it is in a program. A comment above shows the type
 * of the input.
 */
export function createCallSnippet(procedure: LiveProcedure): string {
  const bounds = { input: INPUT_BOUNDS, output: OUTPUT_BOUNDS };
  const { input, isInputOptional, output } = createCallSignature(procedure, bounds, null);
  const path = procedure.name.split(".").map(formatPropertyAccess).join("");
  const hasInput = !isInputOptional || !NO_INPUT.test(input);
  const call = `await service.apps[${quote(procedure.slug)}]${path}(${hasInput ? formatExample(procedure) : ""})`;
  const signature = hasInput ? `// input${isInputOptional ? "?" : ""}: ${input}\n` : "";
  return `${signature}${output === "unknown" ? call : `const result: ${output} = ${call}`}`;
}

/** The type of an object about whose properties nothing is known, or which has none. */
const NO_INPUT = /^(\{ \[key: string\]: (never|unknown) \}|\{\})$/;

function formatExample({ inputSchema }: LiveProcedure): string {
  const example = formatValue(createExample(inputSchema));
  return example.length > MAX_EXAMPLE ? "{}" : example;
}
