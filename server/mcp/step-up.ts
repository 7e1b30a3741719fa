import { isRecord } from "../../domain/shared/json.ts";
import type { InsufficientScope } from "../../domain/shared/errors.ts";
import type { GatewayCall, GatewayTools } from "./gateway-tools.ts";

/**
 * Finds a tool call that the scope of an OAuth access token does not permit. Its response must be an HTTP error: an OAuth
 * client then requests the missing scope and repeats the call. The other tokens cannot get another scope, so their calls
 * get a tool result that the agent can read.
 *
 * @param body - a JSON-RPC message or a batch, not validated yet
 */
export async function findInsufficientScope(
  tools: GatewayTools,
  call: GatewayCall,
  body: unknown,
): Promise<InsufficientScope | null> {
  for (const name of [body].flat().flatMap(readToolName)) {
    const error = await tools.findInsufficientScope(call, name);
    if (error !== null) return error;
  }
  return null;
}

/** The tool that a message calls; empty for any other message. */
function readToolName(message: unknown): string[] {
  if (!isRecord(message) || message["method"] !== "tools/call" || !isRecord(message["params"])) return [];
  const { name } = message["params"];
  return typeof name === "string" ? [name] : [];
}
