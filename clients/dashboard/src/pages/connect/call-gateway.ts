/** What a client would see. */
export interface GatewayView {
  /** The name and the version of the server. */
  server: string;
  /** The revision of the protocol, such as `2025-06-18`. */
  protocol: string;
  tools: string[];
}

/** Why the gateway cannot be used, with what to do. */
export class GatewayProblem extends Error {
  override readonly name = "GatewayProblem";
}

interface RpcResponse {
  result?: {
    protocolVersion?: string;
    serverInfo?: { name: string; version: string };
    tools?: { name: string }[];
  };
  error?: { message: string };
}

const PROTOCOL = "2025-06-18";

/**
 * Connects to the tool gateway as an MCP client does: `initialize`, then `tools/list`.
 *
 * @throws {GatewayProblem}
 */
export async function callGateway(token: string): Promise<GatewayView> {
  if (!/^[\x21-\x7e]+$/.test(token)) throw new GatewayProblem(explainToken(""));
  const clientInfo = { name: "dashboard", version: "1.0.0" };
  const started = await call(token, "initialize", { protocolVersion: PROTOCOL, capabilities: {}, clientInfo });
  const listed = await call(token, "tools/list", {});
  const { name = "unknown", version = "" } = started?.serverInfo ?? {};
  return {
    server: `${name} ${version}`.trimEnd(),
    protocol: started?.protocolVersion ?? PROTOCOL,
    tools: (listed?.tools ?? []).map((tool) => tool.name),
  };
}

async function call(token: string, method: string, params: object): Promise<RpcResponse["result"]> {
  const response = await fetch("/mcp", {
    method: "POST",
    // The gateway must see what a client sends, and no cookie.
    credentials: "omit",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  }).catch(() => {
    throw new GatewayProblem("The gateway cannot be reached. Check your connection, then test again.");
  });
  if (response.status === 401) throw new GatewayProblem(explainToken(token));
  const body = (await response.json().catch(() => ({}))) as RpcResponse;
  if (response.ok && body.result !== undefined) return body.result;
  throw new GatewayProblem(
    body.error?.message ?? `The gateway responded with status ${response.status}. Test again later.`,
  );
}

/** Says why the gateway does not accept a token, as far as its prefix shows. */
function explainToken(token: string): string {
  if (token.startsWith("svk_"))
    return "This is an API key, for the REST API. The gateway accepts personal access tokens, which begin with svp_. Create one above.";
  if (token.startsWith("sva_"))
    return "This is the token of an app. The gateway accepts personal access tokens, which begin with svp_. Create one above.";
  if (/^sv[pg]_/.test(token))
    return "The gateway does not accept this token: it is incomplete, expired or revoked. Create a new one above.";
  return "This is not a token of this service. Personal access tokens begin with svp_. Create one above.";
}
