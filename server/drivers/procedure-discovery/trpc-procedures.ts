import type { Candidate, Finding } from "./source-result.ts";
import { quotedList } from "./source-result.ts";
import { REPORT_PATH } from "./introspection-modules.ts";
import type { IsolatedApp } from "../../../domain/ports/isolated-runtime.ts";
import { ask, Unanswered } from "./isolated-app.ts";
import { parseJson } from "../../../domain/shared/json.ts";
import { findEndpoint } from "./trpc-endpoint.ts";
import { mergedInput, type ReportedProcedure, reportSchema, type TrpcReport } from "./trpc-report.ts";

const REPORT_LIMIT_BYTES = 32 * 1024 * 1024;

type Transformer = "none" | "superjson";

/**
 * The procedures of the tRPC router that the app's main module exports; `null` when it exports none.
 *
 * @throws {Unanswered}
 */
export async function trpcProcedures(app: IsolatedApp, signal: AbortSignal): Promise<Finding | null> {
  const answer = await ask(app, { path: REPORT_PATH, limitBytes: REPORT_LIMIT_BYTES }, signal);
  const report = reportSchema.safeParse(parseJson(answer.text));
  if (!report.success) throw new Unanswered("The app's tRPC router cannot be read; does it use tRPC 11?");
  if (!report.data.found) return null;
  return describe(report.data, await findEndpoint(app, signal));
}

function describe(report: TrpcReport, endpoint: { path: string; certain: boolean } | null): Finding {
  const nothing = (problem: string): Finding => ({ candidates: [], problems: [problem] });
  const { transformer } = report;
  if (transformer === "unknown")
    return nothing(
      "The app's tRPC router uses a data transformer other than superjson, so its procedures cannot be called.",
    );
  if (endpoint === null)
    return nothing("The app exports a tRPC router, but serves it neither at /trpc nor at /api/trpc.");
  const candidates = report.procedures.flatMap((procedure) => candidateOf(procedure, endpoint.path, transformer));
  const problems = [...assumed(endpoint), ...leftOut(report)];
  return { candidates, problems };
}

function candidateOf(procedure: ReportedProcedure, endpoint: string, transformer: Transformer): Candidate[] {
  const { name, kind, description, inputs, output } = procedure;
  if (inputs.some((input) => "left" in input && input.left === "large")) return [];
  const schemas = inputs.map((input) => ("schema" in input ? input.schema : {}));
  const outputSchema = output !== null && "schema" in output ? output.schema : null;
  const invocation = { via: "trpc", endpoint, transformer } as const;
  return [{ name, kind, description, inputSchema: mergedInput(schemas), outputSchema, invocation }];
}

function assumed({ path, certain }: { path: string; certain: boolean }): string[] {
  if (certain) return [];
  return [`Without its bindings the app fails wherever its tRPC router could be; ${path} is assumed.`];
}

function leftOut({ procedures, total }: TrpcReport): string[] {
  const named = (which: "unknown" | "large") =>
    procedures
      .filter(({ inputs }) => inputs.some((input) => "left" in input && input.left === which))
      .map(({ name }) => name);
  const problems = [];
  if (total > procedures.length)
    problems.push(`Only the first ${procedures.length} of ${total} procedures are offered.`);
  const [unknown, large] = [named("unknown"), named("large")];
  if (large.length > 0) problems.push(`Left out because their input schema is too large: ${quotedList(large)}.`);
  if (unknown.length > 0)
    problems.push(
      `The validator of these inputs gives no JSON Schema, so agents see any input as valid: ${quotedList(unknown)}.`,
    );
  return problems;
}
