import { type CallEncoding, JSON_HEADERS, parseBody, toFailedResult } from "./call-encoding.ts";
import type { AppResponse } from "./send-app-request.ts";

interface ToolCallResponse {
  result?: { isError?: boolean; structuredContent?: unknown; content?: { text?: string }[] };
  error?: { message?: unknown };
}

/**
 * MCP's `tools/call` as a single request. `@modelcontextprotocol/client` is not used here: its handshake adds one to
 * three requests to every call, or needs a session for each app in each process.
 */
export const mcpCall: CallEncoding<"mcp"> = {
  encode({ input }, { endpoint, tool }) {
    const params = { name: tool, arguments: input };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const headers = { ...JSON_HEADERS, accept: "application/json, text/event-stream" };
    return { method: "POST", path: endpoint, headers, body };
  },

  decode(response) {
    const isStream = response.contentType.startsWith("text/event-stream");
    const { result, error }: ToolCallResponse = isStream ? parseLastEvent(response) : parseBody(response);
    if (result === undefined) return toFailedResult(response, error?.message);
    const text = (result.content ?? []).map((part) => part.text ?? "").join("\n");
    if (result.isError === true) return toFailedResult(response, text);
    return { ok: true, output: result.structuredContent ?? text };
  },
};

function parseLastEvent(response: AppResponse): object {
  const data = [...response.text.matchAll(/^data: ?(.*)$/gm)].map(([, line]) => line ?? "");
  return parseBody({ ...response, text: data.at(-1) ?? "" });
}
