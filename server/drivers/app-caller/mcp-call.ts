import { type AppCall, AppCallFailed, type ProcedureResult } from "../../../domain/ports/app-caller.ts";
import type { McpInvocation, McpParameterHeader } from "../../../domain/ports/procedure-discovery.ts";
import { isRecord } from "../../../domain/shared/json.ts";
import { toInputObject } from "./call-encoding.ts";
import {
  CLIENT_INFO,
  FIRST_STATELESS_REVISION,
  InitializeRejected,
  type McpConnection,
  McpConnections,
  toHeaders,
} from "./mcp-connections.ts";
import { type McpEndpoint, type McpReply, type McpRequest, requestMcp } from "./mcp-exchange.ts";
import { decodeToolResult } from "./mcp-result.ts";
import { type AppAddress, TIMEOUT_MS } from "./send-app-request.ts";

const TIMED_OUT = `The app did not respond within ${TIMEOUT_MS / 1000} s. A tool that waits for input from its client cannot finish.`;

/**
 * Calls tools of the MCP servers of apps. A server without sessions gets one request for each call; for one with sessions,
 * a session is started at the first call and kept. `@modelcontextprotocol/client` is not used here: it takes about 15 MB,
 * adds one to three requests to calls of servers without sessions, and does not share a session between calls.
 */
export class McpCaller {
  readonly #connections = new McpConnections();

  /** @throws {AppCallFailed} */
  async call(call: AppCall, invocation: McpInvocation, address: AppAddress): Promise<ProcedureResult> {
    const signal = AbortSignal.any([call.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const headers = { authorization: `Bearer ${call.appToken}` };
    const endpoint = { address, path: invocation.endpoint, headers };
    try {
      return decodeToolResult(await this.#send(call, invocation, endpoint, signal));
    } catch (error) {
      if (error instanceof InitializeRejected) return decodeToolResult(error.reply);
      throw signal.aborted ? new AppCallFailed(TIMED_OUT, { cause: error }) : error;
    }
  }

  async #send(call: AppCall, invocation: McpInvocation, endpoint: McpEndpoint, signal: AbortSignal): Promise<McpReply> {
    const key = `${call.deploymentId} ${call.slug} ${call.appToken} ${invocation.endpoint}`;
    const connection = await this.#connections.get(key, endpoint, invocation, signal);
    const reply = await requestMcp(endpoint, createRequest(call, invocation, connection), signal);
    if (!isConnectionRejected(reply, connection)) return reply;
    const replacement = await this.#connections.replace(key, connection, endpoint, { invocation, reply, signal });
    const secondReply = await requestMcp(endpoint, createRequest(call, invocation, replacement), signal);
    if (isConnectionRejected(secondReply, replacement)) this.#connections.forget(key, replacement);
    return secondReply;
  }
}

/**
 * Whether a server rejected a request before it called the tool, because the request belongs to no session of it or has
 * the wrong revision. The request is then sent once more.
 */
function isConnectionRejected({ status, response, text }: McpReply, { sessionId }: McpConnection): boolean {
  if (status === 404 && sessionId !== null) return true;
  const error = response?.error;
  if (response !== null && error === undefined) return false;
  const message = typeof error?.message === "string" ? error.message : text;
  // In a response with status 200 the tool itself may be the one that mentions a session.
  if (status < 400) return /\bnot (yet )?(been )?initiali[sz]ed\b|before initiali[sz]|mcp-session-id/i.test(message);
  return [400, 404, 409].includes(status) && /session|initiali[sz]|protocol.?version/i.test(message);
}

function createRequest(call: AppCall, invocation: McpInvocation, connection: McpConnection): McpRequest {
  const { tool } = invocation;
  const params = { name: tool, arguments: toInputObject(call.input) };
  const headers = toHeaders(connection);
  const { revision } = connection;
  if (revision === null || revision < FIRST_STATELESS_REVISION) return { method: "tools/call", params, headers };
  const meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientInfo": CLIENT_INFO,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return {
    method: "tools/call",
    params: { ...params, _meta: meta },
    headers: {
      ...headers,
      "mcp-method": "tools/call",
      "mcp-name": encodeHeader(tool),
      ...createParameterHeaders(invocation.headers ?? [], call.input),
    },
  };
}

/** Revision 2026-07-28, Streamable HTTP: headers that repeat arguments, for proxies that do not read bodies. */
function createParameterHeaders(declared: readonly McpParameterHeader[], input: unknown): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { name, path } of declared) {
    const value = path.reduce<unknown>((node, key) => (isRecord(node) ? node[key] : undefined), input);
    if (["string", "number", "boolean"].includes(typeof value))
      headers[`mcp-param-${name.toLowerCase()}`] = encodeHeader(String(value));
  }
  return headers;
}

/** Encodes a text that a header cannot contain, or that looks like an encoded text, as the protocol requires. */
function encodeHeader(text: string): string {
  const isPlain = /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}
