import type { IncomingHttpHeaders } from "node:http";
import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";

/** A request with nothing to it but a method and its parameters. */
export interface PlainRequest {
  id: string | number;
  method: string;
  params: Record<string, unknown>;
}

const VERSIONS: ReadonlySet<unknown> = new Set([undefined, ...SUPPORTED_PROTOCOL_VERSIONS]);
const MEMBERS = new Set(["jsonrpc", "id", "method", "params"]);

/**
 * Reads a request of a revision before 2026-07-28 that makes use of nothing the protocol has beside methods: no batch, no
 * notification, no `_meta`.
 *
 * @returns `null` for everything else, the malformed included
 */
export function plainRequest(headers: IncomingHttpHeaders, body: unknown): PlainRequest | null {
  if (!VERSIONS.has(headers["mcp-protocol-version"]) || headers["mcp-method"] !== undefined) return null;
  if (!isRecord(body) || !Object.keys(body).every((key) => MEMBERS.has(key))) return null;
  const { jsonrpc, id, method, params = {} } = body;
  if (jsonrpc !== "2.0" || typeof method !== "string" || !isRecord(params) || "_meta" in params) return null;
  if (typeof id !== "string" && !Number.isSafeInteger(id)) return null;
  return { id: id as string | number, method, params };
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
