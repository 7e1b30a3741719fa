import type { LiveProcedure } from "../../domain/procedures/list-procedures.ts";
import type { Context } from "../../routers/context.ts";
import { createCaller } from "../../routers/index.ts";
import { procedureAt, refusalIn } from "../context.ts";
import type { Logger } from "../logger.ts";
import { resultOf } from "./direct-tools.ts";
import type { ToolResult } from "./tool-result.ts";
import type { ToolEntry } from "./tool-table.ts";

/** What the caller gets of a fault: that there was one, and nothing of it. */
const FAULT = "The service failed to carry out this call. Try again; if it persists, tell the operator.";

/** One call, as the gateway received it. */
export interface ToolCall {
  context: Context;
  input: unknown;
  signal: AbortSignal;
  log: Logger;
}

/** Calls the procedure behind a tool of the service. */
export function callTool(entry: ToolEntry, { context, input, signal, log }: ToolCall): Promise<ToolResult> {
  return carriedOut(entry.tool.name, log, async () => {
    const value = await procedureAt(createCaller(context, { signal }), entry.path)(input ?? {});
    return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
  });
}

/** Calls a procedure of an app that is a tool of its own. */
export function callDirectTool(
  { slug, name }: LiveProcedure,
  { context, input, signal, log }: ToolCall,
): Promise<ToolResult> {
  return carriedOut(`${slug} ${name}`, log, async () => {
    const call = { app: slug, procedure: name, input: (input ?? {}) as Record<string, unknown> };
    return resultOf(await createCaller(context, { signal }).procedures.invoke(call));
  });
}

/** A refusal becomes a result that says what to do; a fault is logged, not shown. */
async function carriedOut(tool: string, log: Logger, call: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await call();
  } catch (error) {
    const told = refusalIn(error)?.message ?? null;
    if (told === null) log.error({ err: error, tool }, "a tool failed");
    return { content: [{ type: "text", text: told ?? FAULT }], isError: true };
  }
}
