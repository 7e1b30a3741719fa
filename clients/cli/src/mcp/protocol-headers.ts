import { isRequestId, type Message, readField } from "./json-rpc.ts";

const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";

/** The parameter that `Mcp-Name` repeats, by method (MCP 2026-07-28, Streamable HTTP, Request headers). */
const NAME_PARAMETERS: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

/** The revision that a message of 2026-07-28 or later names; `null` for a message of an earlier revision. */
export function readModernVersion({ params }: Message): string | null {
  const version = readField(readField(params, "_meta"), VERSION_KEY);
  return typeof version === "string" && isHeaderValue(version) ? version : null;
}

/**
 * The headers that Streamable HTTP requires for a message, and stdio does not have.
 *
 * @param negotiatedVersion - of the earlier revisions, which name it only in the response to `initialize`
 */
export function protocolHeaders(message: Message, negotiatedVersion: string | null): Record<string, string> {
  const version = readModernVersion(message);
  if (version === null) return negotiatedVersion === null ? {} : { "mcp-protocol-version": negotiatedVersion };
  const { id, method, params } = message;
  const headers: Record<string, string> = { "mcp-protocol-version": version };
  if (typeof method !== "string" || !isRequestId(id)) return headers;
  headers["mcp-method"] = encodeHeader(method);
  const name = readField(params, NAME_PARAMETERS[method] ?? "");
  if (typeof name === "string") headers["mcp-name"] = encodeHeader(name);
  return headers;
}

export function isHeaderValue(text: string): boolean {
  return /^[\x21-\x7e]+( [\x21-\x7e]+)*$/.test(text);
}

/** A text that no header can contain, or that looks encoded, is sent in Base64. */
function encodeHeader(text: string): string {
  if (isHeaderValue(text) && !/^=\?base64\?.*\?=$/i.test(text)) return text;
  return `=?base64?${Buffer.from(text).toString("base64")}?=`;
}
