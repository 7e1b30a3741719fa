import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { OfferedProcedures } from "../../domain/procedures/procedure-index.ts";
import type { Context } from "../../routers/core/context.ts";
import type { Logger } from "../telemetry/logger.ts";
import { callDirectTool, callTool, INTERNAL_ERROR } from "./call-tool.ts";
import { directTools } from "./direct-tools.ts";
import type { ToolResult } from "./tool-result.ts";
import { type Tool, TOOL_LIST, TOOLS } from "../../routers/tool-registry.ts";

/** One request of the gateway. */
export interface GatewayCall {
  context: Context;
  log: Logger;
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal;
}

/** The tools that the caller's organization has at this moment: the service's own, then those of its small apps. */
export async function listTools(call: GatewayCall): Promise<{ tools: readonly Tool[] }> {
  return listOf(await offeredTo(call));
}

const listed = new WeakMap<OfferedProcedures, string>();

/** The same as JSON, made once for what the organization has at the moment. */
export async function listToolsJson(call: GatewayCall): Promise<string> {
  const offered = await offeredTo(call);
  const known = listed.get(offered);
  if (known !== undefined) return known;
  const json = JSON.stringify(listOf(offered));
  listed.set(offered, json);
  return json;
}

function listOf(offered: OfferedProcedures): { tools: readonly Tool[] } {
  return { tools: [...TOOL_LIST, ...directTools(offered).list] };
}

/** @returns `null` when the organization has no tool of this name */
export async function callToolNamed(call: GatewayCall, name: string, input: unknown): Promise<ToolResult | null> {
  const entry = TOOLS.get(name);
  if (entry !== undefined) return callTool(entry, { ...call, input });
  const procedure = directTools(await offeredTo(call)).byName.get(name);
  return procedure === undefined ? null : callDirectTool(procedure, { ...call, input });
}

/** @throws {ProtocolError} that says nothing of the fault, which is in the log */
async function offeredTo({ context: { procedures, caller }, log }: GatewayCall): Promise<OfferedProcedures> {
  try {
    if (caller === null) throw new Error("a call reached the gateway without a caller");
    return await procedures.procedureIndex.of(caller.orgId);
  } catch (err) {
    log.error({ err }, "the gateway could not learn what tools an organization has");
    throw new ProtocolError(ProtocolErrorCode.InternalError, INTERNAL_ERROR);
  }
}
