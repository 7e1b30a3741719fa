// A minimal MCP client: it sends only what the specification requires.

export const JSON_CONTENT = { "content-type": "application/json" } as const;

interface RpcResponse {
  result?: { structuredContent?: unknown; content?: { text?: string }[]; isError?: boolean };
  error?: { message: string };
}

export function listToolsBody(): string {
  return rpcBody("tools/list", {});
}

export function callToolBody(name: string, input: object): string {
  return rpcBody("tools/call", { name, arguments: input });
}

const REVISION_2026 = "2026-07-28";

/** A tool call in the revision 2026-07-28, in which every request contains what the older revisions negotiate once. */
export function callToolRequest2026(name: string, input: object): { headers: Record<string, string>; body: string } {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": REVISION_2026,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1.0.0" },
  };
  return {
    headers: { ...JSON_CONTENT, "mcp-protocol-version": REVISION_2026, "mcp-method": "tools/call", "mcp-name": name },
    body: rpcBody("tools/call", { name, arguments: input, _meta: meta }),
  };
}

export interface GatewayClient {
  url: string;
  token: string;
  signal: AbortSignal;
}

/**
 * Calls a tool and returns its structured content.
 *
 * @throws when the call fails
 */
export async function callTool<T>({ url, token, signal }: GatewayClient, name: string, input: object): Promise<T> {
  const headers = { ...JSON_CONTENT, authorization: `Bearer ${token}` };
  const response = await fetch(url, { method: "POST", headers, body: callToolBody(name, input), signal });
  const text = await response.text();
  const { result } = response.ok ? (JSON.parse(text) as RpcResponse) : {};
  if (result?.structuredContent === undefined || result.isError === true)
    throw new Error(`${name} returned ${response.status}: ${text.slice(0, 1000)}`);
  return result.structuredContent as T;
}

function rpcBody(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
}
