import { z } from "zod";
import { DISCOVERY_CAPS, type DiscoveredProcedure, PROCEDURE_NAME } from "../../../domain/ports/procedure-discovery.ts";
import { parseJson } from "../../../domain/shared/json.ts";
import { isTooComplexJson } from "../../../domain/shared/json-limits.ts";
import type { IsolatedApp } from "../../ports/isolated-runtime.ts";
import { REPORT_PATHS } from "./introspection-modules.ts";
import { requestApp } from "./request-app.ts";
import { quoteList, type SourceResult } from "./source-result.ts";
import {
  mergeInputSchemas,
  type ReportedProcedure,
  reportSchema,
  type RouterReport,
  type TrpcReport,
} from "./trpc-report.ts";
import { UniqueNames } from "./unique-names.ts";

const MAX_REPORT_BYTES = 32 * 1024 * 1024;
/** Parsing more values would delay other work of the service for seconds. The schemas that an app may have contain fewer. */
const REPORT_LIMITS = { values: 500_000, depth: 120 };

type Transformer = "none" | "superjson";

/**
 * Lists the procedures of the app's tRPC router: the one that its main module exports, otherwise the one that handles
 * requests.
 *
 * @param paths - where the app may serve the router, the most likely ones first
 * @returns `null` when the app has no router
 * @throws {AppResponseError}
 */
export async function listTrpcProcedures(
  app: IsolatedApp,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<SourceResult | null> {
  const exported = await readReport(app, REPORT_PATHS.exported, signal);
  const endpoint = await findTrpcEndpoint(app, paths, signal);
  const report = exported === null || exported.found ? exported : await readReport(app, REPORT_PATHS.used, signal);
  if (exported === null || report === null) return withoutCandidates(UNREADABLE);
  if (report.found) return toSourceResult(report, endpoint);
  // Something responds like a router of tRPC, and none was created in a way that is known.
  return endpoint?.isCertain === true ? withoutCandidates(UNREADABLE) : null;
}

const UNREADABLE = "The app's tRPC router cannot be read. Only tRPC 11 is supported.";

/** @returns `null` for a report that is not valid */
async function readReport(app: IsolatedApp, path: string, signal: AbortSignal): Promise<RouterReport | null> {
  const { text } = await requestApp(app, { path, maxBytes: MAX_REPORT_BYTES }, signal);
  if (isTooComplexJson(text, REPORT_LIMITS)) return null;
  return reportSchema.safeParse(parseJson(text)).data ?? null;
}

function toSourceResult(report: TrpcReport, endpoint: TrpcEndpoint | null): SourceResult {
  const { transformer, total, subscriptions } = report;
  // Procedures of tRPC 10 do not say their type.
  if (total === 0 && subscriptions.length === 0) return withoutCandidates(UNREADABLE);
  if (transformer === "unknown")
    return withoutCandidates(
      "The app's tRPC router uses a data transformer other than superjson, so its procedures cannot be called.",
    );
  if (endpoint === null)
    return withoutCandidates(
      "The app has a tRPC router, but serves it neither at /trpc nor at /api/trpc, nor at another path that its code names.",
    );
  const router = { endpoint: endpoint.path, transformer, names: nameProcedures(report.procedures) };
  const candidates = report.procedures.flatMap((procedure) => toCandidates(procedure, router));
  return { candidates, problems: [...describeAssumption(endpoint), ...describeLosses(report)] };
}

function withoutCandidates(problem: string): SourceResult {
  return { candidates: [], problems: [problem] };
}

/**
 * Names that cannot be a property of JavaScript with dots are replaced: by readable ones, if possible. A name that is too
 * long stays, and its procedure is left out.
 */
function nameProcedures(procedures: readonly ReportedProcedure[]): ReadonlyMap<string, string> {
  const names = new UniqueNames();
  const [valid, others] = [true, false].map((isValid) =>
    procedures.filter(({ name }) => PROCEDURE_NAME.test(name) === isValid),
  ) as [ReportedProcedure[], ReportedProcedure[]];
  const kept = valid.map(({ name }) => [name, name] as const);
  for (const [name] of kept) names.add(name);
  return new Map([...kept, ...others.map(({ name }) => [name, isTooLong(name) ? name : names.add(name)] as const)]);
}

function isTooLong(name: string): boolean {
  return name.length > DISCOVERY_CAPS.nameCharacters;
}

interface Router {
  endpoint: string;
  transformer: Transformer;
  /** The names of procedures by their names in the router. */
  names: ReadonlyMap<string, string>;
}

/** @returns no candidate when an input schema is too large, or no input can be sent */
function toCandidates(procedure: ReportedProcedure, { endpoint, transformer, names }: Router): DiscoveredProcedure[] {
  const { kind, description, inputs, output, isInputOptional } = procedure;
  if (hasInputThatFailed(procedure, "large") || hasInputThatFailed(procedure, "impossible")) return [];
  const name = names.get(procedure.name) ?? procedure.name;
  const schemas = inputs.map((input) => ("schema" in input ? input.schema : {}));
  const outputSchema = output !== null && "schema" in output ? output.schema : null;
  const ownName = name === procedure.name ? {} : { procedure: procedure.name };
  const invocation = { via: "trpc", endpoint, transformer, isInputOptional, ...ownName } as const;
  return [{ name, kind, description, inputSchema: mergeInputSchemas(schemas), outputSchema, invocation }];
}

function describeAssumption({ path, isCertain }: TrpcEndpoint): string[] {
  if (isCertain) return [];
  return [`Without its bindings the app fails at every path that could serve its tRPC router; ${path} is assumed.`];
}

function describeLosses({ procedures, total, subscriptions }: TrpcReport): string[] {
  const problems = [];
  if (total > procedures.length)
    problems.push(`Only the first ${procedures.length} of ${total} procedures are offered.`);
  const large = procedures.filter((procedure) => hasInputThatFailed(procedure, "large"));
  if (large.length > 0) problems.push(`Left out because their input schema is too large: ${quoteNames(large)}.`);
  const impossible = procedures.filter((procedure) => hasInputThatFailed(procedure, "impossible"));
  if (impossible.length > 0)
    problems.push(
      `Left out because their input contains a Date, bigint, Set or Map, which cannot be sent without the transformer superjson: ${quoteNames(impossible)}.`,
    );
  if (subscriptions.length > 0)
    problems.push(`Left out because they are subscriptions, which have no end: ${quoteList(subscriptions)}.`);
  const unknown = procedures.filter((procedure) => hasInputThatFailed(procedure, "unknown"));
  if (unknown.length > 0)
    problems.push(
      `The validators of these inputs have no JSON Schema, so agents see any input as valid: ${quoteNames(unknown)}.`,
    );
  return problems;
}

function hasInputThatFailed({ inputs }: ReportedProcedure, reason: "unknown" | "large" | "impossible"): boolean {
  return inputs.some((input) => "failed" in input && input.failed === reason);
}

function quoteNames(procedures: readonly ReportedProcedure[]): string {
  return quoteList(procedures.map(({ name }) => name));
}

interface TrpcEndpoint {
  path: string;
  /** `false` when the app failed at every path, so that the first one is assumed. */
  isCertain: boolean;
}

/** `path` is the name of the procedure, unless the app formats its errors itself. */
const errorShape = z.object({
  code: z.int().negative(),
  message: z.string().optional().catch(undefined),
  data: z
    .object({ path: z.string().optional().catch(undefined) })
    .optional()
    .catch(undefined),
});
const UNKNOWN_PROCEDURE = "__probe__";
/** With a transformer, the error is inside `json`. */
const trpcError = z.object({
  jsonrpc: z.unknown().optional(),
  error: z.union([errorShape, z.object({ json: errorShape })]),
});

/**
 * Finds the path at which the app responds like a tRPC router to a request for an unknown procedure. Without its
 * bindings an app may fail before its router handles the request.
 *
 * @throws {AppResponseError}
 */
async function findTrpcEndpoint(
  app: IsolatedApp,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<TrpcEndpoint | null> {
  const statuses: number[] = [];
  for (const path of paths) {
    const { status, text } = await requestApp(app, { path: `${path}/${UNKNOWN_PROCEDURE}` }, signal);
    if (isTrpcError(parseJson(text))) return { path, isCertain: true };
    statuses.push(status);
  }
  return statuses.every((status) => status >= 500) ? { path: "/trpc", isCertain: false } : null;
}

/** A router at the root of the app takes the whole path for the name. Errors of JSON-RPC, and so of MCP, look similar. */
function isTrpcError(body: unknown): boolean {
  const { data } = trpcError.safeParse(body);
  if (data === undefined || data.jsonrpc !== undefined) return false;
  const { message, data: details } = "json" in data.error ? data.error.json : data.error;
  if (details?.path !== undefined) return details.path === UNKNOWN_PROCEDURE;
  return message?.includes(`/${UNKNOWN_PROCEDURE}`) !== true;
}
