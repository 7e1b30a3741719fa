import type { LiveProcedure } from "../../domain/procedures/list-procedures.ts";
import { ServiceError } from "../../domain/shared/errors.ts";
import type { ProcedureResult } from "../../domain/procedures/call-procedure.ts";
import type { Context } from "../../routers/core/context.ts";
import { callProcedureAt, type ToolEntry } from "../../routers/tool-registry.ts";
import type { Logger } from "../telemetry/logger.ts";
import { resultOf } from "./direct-tool-result.ts";
import { resultFrom, type ToolResult } from "./tool-result.ts";

/** What the caller gets of a fault: that there was one, and nothing of it. */
export const INTERNAL_ERROR =
  "The service failed to carry out this call. Try again; if it persists, tell the operator.";

/** One call, as the gateway received it. */
export interface ToolCall {
  context: Context;
  input: unknown;
  signal: AbortSignal;
  log: Logger;
}

/** Calls the procedure behind a tool of the service. */
export function callTool(entry: ToolEntry, { context, input, signal, log }: ToolCall): Promise<ToolResult> {
  const { tool, path, takes } = entry;
  return carriedOut({ name: tool.name, takes }, log, async () => {
    return resultFrom(await callProcedureAt(context, path, input ?? {}, signal));
  });
}

/** Calls a procedure of an app that is a tool of its own. */
export function callDirectTool(
  { slug, name, kind }: LiveProcedure,
  { context, input, signal, log }: ToolCall,
): Promise<ToolResult> {
  return carriedOut({ name: `${slug} ${name}`, takes: null }, log, async () => {
    const call = { app: slug, procedure: name, input: (input ?? {}) as Record<string, unknown> };
    return resultOf(await callProcedureAt<ProcedureResult>(context, "procedures.invoke", call, signal), kind);
  });
}

/** A refusal becomes a result that says what to do; a fault is logged, not shown. */
async function carriedOut(
  { name, takes }: { name: string; takes: string | null },
  log: Logger,
  call: () => Promise<ToolResult>,
): Promise<ToolResult> {
  try {
    return await call();
  } catch (error) {
    const refusal = error instanceof ServiceError ? error : null;
    if (refusal === null) log.error({ err: error, tool: name }, "a tool failed");
    const advice = refusal?.code === "invalid" && takes !== null ? ` ${takes}` : "";
    return { content: [{ type: "text", text: `${refusal?.message ?? INTERNAL_ERROR}${advice}` }], isError: true };
  }
}
