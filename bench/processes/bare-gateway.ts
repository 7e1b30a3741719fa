/** A tool gateway like the ones in the SDK's documentation: one server per request, one tool, a fixed result. */
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import {
  createMcpHandler,
  McpServer,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { browseAppsRequest, browseAppsResponse } from "../../routers/apps.schema.ts";
import { TOOLS } from "../../routers/tool-registry.ts";
import { serveCommands } from "../support/serve-commands.ts";

export interface BareGatewayOptions {
  /** `McpServer` validates input and output, like the gateway. `Server` only implements the protocol. */
  kind: "McpServer" | "Server";
  /** The result of its only tool, which has the same name and schemas as the gateway's `service_list_apps`. */
  result: ListAppsResult;
}

export interface ListAppsResult {
  apps: object[];
  next_cursor: string | null;
}

export type BareGatewayCommands = Awaited<ReturnType<typeof open>>["commands"];

const INFO = { name: "bare-gateway", version: "1.0.0" };
const REVISION_2026 = "2026-07-28";

async function open({ kind, result }: BareGatewayOptions) {
  const createServer = kind === "McpServer" ? () => createMcpServer(result) : () => createPlainServer(result);
  const handler2026 = createMcpHandler(createServer, { legacy: "reject" });
  const respond = async (incoming: http.IncomingMessage, outgoing: http.ServerResponse): Promise<void> => {
    const parsedBody: unknown = JSON.parse((await buffer(incoming)).toString());
    const request = new Request("http://bare/mcp", { method: "POST", headers: withAccept(incoming.headers) });
    const is2026 = incoming.headers["mcp-protocol-version"] === REVISION_2026;
    const response = is2026
      ? await handler2026.fetch(request, { parsedBody })
      : await handleLegacy(createServer(), request, parsedBody);
    const body = Buffer.from(await response.arrayBuffer());
    outgoing.writeHead(response.status, Object.fromEntries(response.headers)).end(body);
  };
  const server = http.createServer((incoming, outgoing) => void respond(incoming, outgoing));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await handler2026.close();
  };
  return { commands: { publicUrl: () => `http://127.0.0.1:${port}` }, close };
}

/** Handles a request of a revision before 2026-07-28. */
async function handleLegacy(server: McpServer | Server, request: Request, parsedBody: unknown): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  const response = await transport.handleRequest(request, { parsedBody });
  await server.close();
  return response;
}

const { tool } = TOOLS.get("service_list_apps") ?? {};
if (tool === undefined) throw new Error("The gateway has no tool service_list_apps.");
const { name, inputSchema, outputSchema, ...metadata } = tool;

function createMcpServer(result: ListAppsResult): McpServer {
  const server = new McpServer(INFO);
  const schemas = { inputSchema: browseAppsRequest, outputSchema: browseAppsResponse };
  server.registerTool(name, { ...metadata, ...schemas }, () => toToolResult(result) as never);
  return server;
}

function createPlainServer(result: ListAppsResult): Server {
  const server = new Server(INFO, { capabilities: { tools: {} } });
  const tools = [{ name, ...metadata, inputSchema, outputSchema }];
  server.setRequestHandler("tools/list", () => ({ tools }) as never);
  server.setRequestHandler("tools/call", () => toToolResult(result) as never);
  return server;
}

function toToolResult(result: ListAppsResult): object {
  return { content: [{ type: "text", text: JSON.stringify(result) }], structuredContent: result };
}

/** The compared requests have no `Accept` header, which the gateway does not require. The SDK would reject requests without it. */
function withAccept(headers: http.IncomingHttpHeaders): Headers {
  const forwarded = new Headers(headers as Record<string, string>);
  forwarded.set("accept", "application/json, text/event-stream");
  return forwarded;
}

await serveCommands(open);
