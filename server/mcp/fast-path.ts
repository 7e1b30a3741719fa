import type { IncomingHttpHeaders } from "node:http";
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  classifyInboundRequest,
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
  SERVER_INFO_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/server";
import { isRecord } from "../../domain/shared/json.ts";

/** The two methods of tools. `C` describes the call. Results are JSON texts. */
export interface ToolMethods<C> {
  /** @throws {ProtocolError} when the list cannot be read */
  list(call: C): Promise<string>;
  /**
   * @returns `null` when there is no tool of this name
   * @throws {ProtocolError} when the list of tools cannot be read
   */
  call(call: C, name: string, input: unknown): Promise<string | null>;
}

/** What results of revision 2026-07-28 contain besides their content. */
export interface ServerDescription {
  info: { name: string; version: string };
  /** How long a client may cache the list of tools, in milliseconds, and for whom. */
  listCache: { ttlMs: number; cacheScope: "private" | "public" };
}

/** The parts of a POST that the protocol uses. */
export interface McpPost {
  headers: IncomingHttpHeaders;
  parsedBody: unknown;
}

interface PlainRequest {
  id: string | number;
  method: string;
  /** Without `_meta`. */
  params: Record<string, unknown>;
  /** Whether the request is of revision 2026-07-28. */
  isModern: boolean;
}

const MODERN = "2026-07-28";
const EARLIER: ReadonlySet<unknown> = new Set([undefined, ...SUPPORTED_PROTOCOL_VERSIONS]);
const REQUEST_KEYS = new Set(["jsonrpc", "id", "method", "params"]);
const CALL_KEYS = new Set(["name", "arguments"]);
const NO_KEYS: ReadonlySet<string> = new Set();
const META_KEYS = new Set([PROTOCOL_VERSION_META_KEY, CLIENT_INFO_META_KEY, CLIENT_CAPABILITIES_META_KEY]);

/**
 * Responds to plain `tools/list` and `tools/call` requests without the SDK, whose server and transport per request cost
 * more than the call itself. A plain request has an id, a method and parameters: no batch, no notification, and no `_meta`
 * except what revision 2026-07-28 requires. The SDK handles everything else, including malformed requests.
 */
export class FastPath<C> {
  readonly #tools: ToolMethods<C>;
  /** The members that end a result of revision 2026-07-28, as JSON after a comma. */
  readonly #modernMembers: Readonly<Record<string, string>>;

  constructor(tools: ToolMethods<C>, { info, listCache }: ServerDescription) {
    this.#tools = tools;
    this.#modernMembers = {
      "tools/list": modernMembers({ ...listCache, _meta: { [SERVER_INFO_META_KEY]: info } }),
      "tools/call": modernMembers({ _meta: { [SERVER_INFO_META_KEY]: info } }),
    };
  }

  /** Returns the body of a response with status 200, or `null` to leave the request to the SDK. */
  async respond(post: McpPost, call: C): Promise<string | null> {
    const request = readPlainRequest(post);
    if (request === null) return null;
    const { id, method, isModern } = request;
    try {
      const result = await this.#getResult(request, call);
      if (result === null) return null;
      const whole = isModern ? `${result.slice(0, -1)}${this.#modernMembers[method]}}` : result;
      return `{"result":${whole},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      // In revision 2026-07-28 an error also has an HTTP status, which the SDK chooses.
      if (isModern) return null;
      return JSON.stringify({ jsonrpc: "2.0", id, error: { code: error.code, message: error.message } });
    }
  }

  async #getResult({ method, params }: PlainRequest, call: C): Promise<string | null> {
    if (method === "tools/list" && hasOnlyKeys(params, NO_KEYS)) return this.#tools.list(call);
    if (method !== "tools/call" || !hasOnlyKeys(params, CALL_KEYS)) return null;
    const { name, arguments: input } = params;
    if (typeof name !== "string" || (input !== undefined && !isRecord(input))) return null;
    return this.#tools.call(call, name, input);
  }
}

function modernMembers(members: object): string {
  return `,${JSON.stringify({ resultType: "complete", ...members }).slice(1, -1)}`;
}

function readPlainRequest({ headers, parsedBody }: McpPost): PlainRequest | null {
  if (!isRecord(parsedBody) || !hasOnlyKeys(parsedBody, REQUEST_KEYS)) return null;
  const { jsonrpc, id, method, params = {} } = parsedBody;
  if (jsonrpc !== "2.0" || typeof method !== "string" || !isRecord(params)) return null;
  if (typeof id !== "string" && !Number.isSafeInteger(id)) return null;
  const request = { id: id as string | number, method };
  if (headers["mcp-protocol-version"] !== MODERN)
    return isPlainEarlier(headers, params) ? { ...request, params, isModern: false } : null;
  const { _meta: meta, ...rest } = params;
  if (!isRecord(meta) || !hasOnlyKeys(meta, META_KEYS) || !isPlainModern(headers, parsedBody)) return null;
  return { ...request, params: rest, isModern: true };
}

function isPlainEarlier(headers: IncomingHttpHeaders, params: Record<string, unknown>): boolean {
  return EARLIER.has(headers["mcp-protocol-version"]) && headers["mcp-method"] === undefined && !("_meta" in params);
}

/** Whether the headers equal the body, without any encoding, and the SDK classifies the request as revision 2026-07-28. */
function isPlainModern(headers: IncomingHttpHeaders, body: Record<string, unknown>): boolean {
  const { "mcp-method": mcpMethodHeader, "mcp-name": mcpNameHeader } = headers;
  const { method, params } = body;
  if (mcpMethodHeader !== method || mcpNameHeader !== (params as { name?: unknown }).name) return false;
  const outcome = classifyInboundRequest({
    httpMethod: "POST",
    protocolVersionHeader: MODERN,
    mcpMethodHeader: String(method),
    body,
    ...(mcpNameHeader !== undefined && { mcpNameHeader: String(mcpNameHeader) }),
  });
  return outcome.kind === "modern" && outcome.classification.revision === MODERN;
}

function hasOnlyKeys(record: object, keys: ReadonlySet<string>): boolean {
  return Object.keys(record).every((key) => keys.has(key));
}
