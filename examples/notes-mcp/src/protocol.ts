import { callTool, type Context, tools } from "./tools.ts";

/** The revisions of MCP that this speaks; the first is offered to who asks for another one. */
const VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26"];

type Params = Record<string, unknown>;

/** What of MCP a server with nothing but tools needs. */
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

/** Answers one JSON-RPC message; `null` when it is a notification, which gets no answer. */
export async function answer(message: unknown, context: Context): Promise<object | null> {
  const { id, method, params } = (message ?? {}) as { id?: string | number; method?: unknown; params?: Params };
  if (typeof method !== "string") return failure(id ?? null, -32600, "This is no JSON-RPC request");
  if (id === undefined) return null;
  const run = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined;
  if (!run) return failure(id, -32601, `There is no method ${method}`);
  try {
    return { jsonrpc: "2.0", id, result: await run(params ?? {}, context) };
  } catch (error) {
    if (error instanceof TypeError) return failure(id, -32602, error.message);
    throw error;
  }
}

function failure(id: string | number | null, code: number, message: string): object {
  return { jsonrpc: "2.0", id, error: { code, message } };
}
