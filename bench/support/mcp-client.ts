/** Requests to a tool gateway, as a client writes them that knows no more than the specification's minimal one. */

export const JSON_CONTENT = { "content-type": "application/json" } as const;

interface RpcAnswer {
  result?: { structuredContent?: unknown; content?: { text?: string }[]; isError?: boolean };
  error?: { message: string };
}

export function listTools(): string {
  return rpc("tools/list", {});
}

export function callOf(name: string, input: object): string {
  return rpc("tools/call", { name, arguments: input });
}

const MODERN = "2026-07-28";

/** A call of a tool as the revision of 2026-07-28 wants it: each request says all there is to know. */
export function modernCallOf(name: string, input: object): { headers: Record<string, string>; body: string } {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1.0.0" },
  };
  return {
    headers: { ...JSON_CONTENT, "mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": name },
    body: rpc("tools/call", { name, arguments: input, _meta: meta }),
  };
}

/** Who calls which gateway. */
export interface GatewayClient {
  url: string;
  token: string;
  signal: AbortSignal;
}

/**
 * Calls a tool and waits for what it returns.
 *
 * @throws with the answer when it is a refusal, or an error of any other kind
 */
export async function callTool<T>({ url, token, signal }: GatewayClient, name: string, input: object): Promise<T> {
  const headers = { ...JSON_CONTENT, authorization: `Bearer ${token}` };
  const response = await fetch(url, { method: "POST", headers, body: callOf(name, input), signal });
  const text = await response.text();
  const { result } = response.ok ? (JSON.parse(text) as RpcAnswer) : {};
  if (result?.structuredContent === undefined || result.isError === true)
    throw new Error(`${name} answered ${response.status}: ${text.slice(0, 1000)}`);
  return result.structuredContent as T;
}

function rpc(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
}
