import type { OfferedProcedures } from "../../domain/procedures/procedure-index.ts";
import type { Context } from "../../routers/context.ts";
import type { Logger } from "../logger.ts";
import { callDirectTool, callTool } from "./call-tool.ts";
import { directTools } from "./direct-tools.ts";
import type { ToolResult } from "./tool-result.ts";
import { type Tool, TOOL_LIST, TOOLS } from "./tool-table.ts";

/** One request of the gateway. */
export interface GatewayCall {
  context: Context;
  log: Logger;
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal;
}

/** The tools that the caller's organization has at this moment: the service's own, then those of its small apps. */
export async function listTools({ context }: GatewayCall): Promise<{ tools: readonly Omit<Tool, "outputSchema">[] }> {
  return { tools: [...TOOL_LIST, ...directTools(await offeredTo(context)).list] };
}

const listed = new WeakMap<OfferedProcedures, string>();

/** The same as JSON, made once for what the organization has at the moment. */
export async function listToolsJson(call: GatewayCall): Promise<string> {
  const offered = await offeredTo(call.context);
  const known = listed.get(offered);
  if (known !== undefined) return known;
  const json = JSON.stringify({ tools: [...TOOL_LIST, ...directTools(offered).list] });
  listed.set(offered, json);
  return json;
}

/** @returns `null` when the organization has no tool of this name */
export async function callToolNamed(
  { context, log, signal }: GatewayCall,
  name: string,
  input: unknown,
): Promise<ToolResult | null> {
  const call = { context, log, input, signal };
  const entry = TOOLS.get(name);
  if (entry !== undefined) return callTool(entry, call);
  const procedure = directTools(await offeredTo(context)).byName.get(name);
  return procedure === undefined ? null : callDirectTool(procedure, call);
}

function offeredTo({ procedureIndex, caller }: Context): Promise<OfferedProcedures> {
  if (caller === null) throw new Error("a call reached the gateway without a caller");
  return procedureIndex.of(caller.orgId);
}
