import { callTool, type Context, tools } from "./tools.ts";

/** The supported revisions of MCP. A client that requests another one gets the first. */
const VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26"];

type Params = Record<string, unknown>;

/** The methods of MCP that a server with tools only needs. */
const METHODS: Record<string, (params: Params, context: Context) => unknown> = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion: VERSIONS.find((version) => version === protocolVersion) ?? VERSIONS[0],
    capabilities: { tools: {} },
    serverInfo: { name: "notes", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools }),
  "tools/call": callTool,
};

/** Handles one JSON-RPC message. Returns `null` for a notification, which has no response. */
export async function handleMessage(message: unknown, context: Context): Promise<object | null> {
  const { id, method, params } = (message ?? {}) as { id?: string | number; method?: unknown; params?: Params };
  if (typeof method !== "string") return errorResponse(id ?? null, -32600, "Invalid JSON-RPC request");
  if (id === undefined) return null;
  const run = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined;
  if (!run) return errorResponse(id, -32601, `Unknown method: ${method}`);
  try {
    return { jsonrpc: "2.0", id, result: await run(params ?? {}, context) };
  } catch (error) {
    if (error instanceof TypeError) return errorResponse(id, -32602, error.message);
    throw error;
  }
}

function errorResponse(id: string | number | null, code: number, message: string): object {
  return { jsonrpc: "2.0", id, error: { code, message } };
}
