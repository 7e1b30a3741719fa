import { isRecord } from "../../../domain/shared/json.ts";

/** A call of the model that the forwarder does not pass on. The message is for the command. */
export class RefusedRequest extends Error {
  override readonly name = "RefusedRequest";
}

const MAX_OUTPUT_TOKENS = 32_000;

/** Fields with which an endpoint does more than respond: it searches, runs code, calls servers or keeps the conversation. */
const SERVER_SIDE_FIELDS = ["web_search_options", "mcp_servers", "container", "plugins", "background", "conversation"];

/** The fields that bound the output, by the API. */
const OUTPUT_FIELDS = ["max_tokens", "max_completion_tokens", "max_output_tokens"];

/**
 * Returns a call with the configured model and a bound of output tokens.
 *
 * @param operation - the path of the operation, such as `/chat/completions`
 * @throws {RefusedRequest} when the call uses what runs on the side of the endpoint
 */
export function fixRequest(body: Record<string, unknown>, model: string, operation: string): Record<string, unknown> {
  const refused = SERVER_SIDE_FIELDS.find((field) => body[field] !== undefined && body[field] !== null);
  if (refused !== undefined) throw new RefusedRequest(`${refused} is not available here.`);
  for (const tool of Array.isArray(body["tools"]) ? body["tools"] : []) checkTool(tool);
  const fixed: Record<string, unknown> = { ...body, model };
  for (const field of OUTPUT_FIELDS) {
    const value = body[field];
    if (value !== undefined && value !== null)
      fixed[field] = Math.min(typeof value === "number" ? value : MAX_OUTPUT_TOKENS, MAX_OUTPUT_TOKENS);
  }
  if (operation === "/responses") fixed["store"] = false;
  // Without it, a stream of this API does not say how many tokens were used.
  if (operation === "/chat/completions" && body["stream"] === true) fixed["stream_options"] = { include_usage: true };
  return fixed;
}

/** A tool that the command itself runs has no type, or is a function. A namespace is a list of tools. */
function checkTool(tool: unknown): void {
  const { type, tools } = isRecord(tool) ? tool : {};
  if (type === undefined || type === null || type === "function" || type === "custom") return;
  if (type === "namespace" && Array.isArray(tools)) return tools.forEach(checkTool);
  throw new RefusedRequest(`Tools of the type ${JSON.stringify(type).slice(0, 50)} are not available here.`);
}
