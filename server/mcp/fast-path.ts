import type { IncomingHttpHeaders } from "node:http";
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  classifyInboundRequest,
  PROTOCOL_VERSION_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/server";
import { isRecord } from "../../domain/shared/json.ts";

/** A request with nothing to it but a method and its parameters, these without `_meta`. */
export interface PlainRequest {
  id: string | number;
  method: string;
  params: Record<string, unknown>;
  /** Whether it is of revision 2026-07-28, whose results say more. */
  isModern: boolean;
}

const MODERN = "2026-07-28";
const EARLIER: ReadonlySet<unknown> = new Set([undefined, ...SUPPORTED_PROTOCOL_VERSIONS]);
const MEMBERS = new Set(["jsonrpc", "id", "method", "params"]);
const ENVELOPE = new Set([PROTOCOL_VERSION_META_KEY, CLIENT_INFO_META_KEY, CLIENT_CAPABILITIES_META_KEY]);

/**
 * Reads a request that makes use of nothing the protocol has beside methods: no batch, no notification, and no `_meta` but
 * what revision 2026-07-28 has every request say.
 *
 * @returns `null` for everything else, the malformed included
 */
export function plainRequest(headers: IncomingHttpHeaders, body: unknown): PlainRequest | null {
  if (!isRecord(body) || !hasOnly(body, MEMBERS)) return null;
  const { jsonrpc, id, method, params = {} } = body;
  if (jsonrpc !== "2.0" || typeof method !== "string" || !isRecord(params)) return null;
  if (typeof id !== "string" && !Number.isSafeInteger(id)) return null;
  const request = { id: id as string | number, method };
  if (headers["mcp-protocol-version"] !== MODERN)
    return isPlainEarlier(headers, params) ? { ...request, params, isModern: false } : null;
  const { _meta: meta, ...rest } = params;
  if (!isRecord(meta) || !hasOnly(meta, ENVELOPE) || !isPlainModern(headers, body)) return null;
  return { ...request, params: rest, isModern: true };
}

function isPlainEarlier(headers: IncomingHttpHeaders, params: Record<string, unknown>): boolean {
  return EARLIER.has(headers["mcp-protocol-version"]) && headers["mcp-method"] === undefined && !("_meta" in params);
}

/** Whether the headers say the same as the body, to the letter, and the SDK finds nothing amiss with either. */
function isPlainModern(headers: IncomingHttpHeaders, body: Record<string, unknown>): boolean {
  const { "mcp-method": mcpMethodHeader, "mcp-name": mcpNameHeader } = headers;
  const { method, params } = body;
  if (mcpMethodHeader !== method || mcpNameHeader !== (params as { name?: unknown }).name) return false;
  const outcome = classifyInboundRequest({
    ...{ httpMethod: "POST", protocolVersionHeader: MODERN, mcpMethodHeader: String(method), body },
    ...(mcpNameHeader !== undefined && { mcpNameHeader: String(mcpNameHeader) }),
  });
  return outcome.kind === "modern" && outcome.classification.revision === MODERN;
}

function hasOnly(record: object, keys: ReadonlySet<string>): boolean {
  return Object.keys(record).every((key) => keys.has(key));
}
