import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type AppCall, AppCallFailed, type ProcedureResult } from "../../../domain/ports/app-caller.ts";
import type { McpInvocation } from "../../../domain/ports/procedure-discovery.ts";
import { EdgeProxyCaller } from "../../../server/drivers/app-caller/edge-proxy-caller.ts";

export interface McpMessage {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
}

export interface McpRequest {
  httpMethod: string;
  headers: IncomingHttpHeaders;
  message: McpMessage;
  response: ServerResponse;
}

/** An MCP server in place of the edge proxy and its apps. */
export interface McpTestServer extends AsyncDisposable {
  /** What the server received, in order. */
  requests: McpRequest[];
  /** The methods of the received messages; the method of HTTP for a request without a message. */
  methods(): string[];
  call(invocation?: Partial<McpInvocation>, call?: Partial<AppCall>): Promise<ProcedureResult>;
  /** Calls the tool, and returns the error of the call. */
  callError(invocation?: Partial<McpInvocation>, call?: Partial<AppCall>): Promise<string>;
}

export async function startMcpServer(handle: (request: McpRequest) => void): Promise<McpTestServer> {
  const requests: McpRequest[] = [];
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      const message = (body === "" ? {} : JSON.parse(body)) as McpMessage;
      const request = { httpMethod: incoming.method ?? "", headers: incoming.headers, message, response };
      requests.push(request);
      handle(request);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const caller = new EdgeProxyCaller((slug) => ({ host: "127.0.0.1", port, hostHeader: `${slug}.localhost` }));
  const call: McpTestServer["call"] = (invocation, overrides) =>
    caller.call({
      slug: "shop",
      deploymentId: "d1",
      appToken: "sva_token",
      name: "look",
      kind: "query",
      invocation: { via: "mcp", endpoint: "/mcp", tool: "look", ...invocation },
      input: {},
      signal: new AbortController().signal,
      ...overrides,
    });
  return {
    requests,
    methods: () => requests.map(({ message, httpMethod }) => message.method ?? httpMethod),
    call,
    callError: (...args) =>
      call(...args).then(
        (result) => `no error: ${JSON.stringify(result)}`,
        (error: unknown) => (error instanceof AppCallFailed ? error.message : `internal error: ${String(error)}`),
      ),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Responds with JSON. */
export function sendJson(response: ServerResponse, body: unknown, { status = 200, headers = {} } = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

export function sendResult({ response, message }: McpRequest, result: unknown, headers: object = {}): void {
  sendJson(response, { jsonrpc: "2.0", id: message.id, result }, { headers });
}

export function sendError(
  request: McpRequest,
  status: number,
  error: { code: number; message: string; data?: unknown },
) {
  sendJson(request.response, { jsonrpc: "2.0", id: null, error }, { status });
}

export const textResult = (text: string) => ({ content: [{ type: "text", text }] });

/** A server that requires its sessions. `sessions` has those that it knows. The result has the session of the call. */
export function createSessionServer(sessions: Set<string>, revision = "2025-06-18"): (request: McpRequest) => void {
  return (request) => {
    const { message, headers, response } = request;
    const session = headers["mcp-session-id"];
    if (message.method === "initialize") {
      const id = `session-${crypto.randomUUID()}`;
      sessions.add(id);
      const result = { protocolVersion: revision, capabilities: {}, serverInfo: { name: "s", version: "1" } };
      return sendResult(request, result, { "mcp-session-id": id });
    }
    if (session === undefined)
      return sendError(request, 400, { code: -32_000, message: "Bad Request: Mcp-Session-Id header is required" });
    if (!sessions.has(String(session))) return sendError(request, 404, { code: -32_001, message: "Session not found" });
    if (message.id === undefined) return void response.writeHead(202).end();
    return sendResult(request, textResult(String(session)));
  };
}
