/** A tool gateway as the SDK's documentation builds one: a server per request, one tool, nothing behind it. */
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
import { serve } from "../support/serve-commands.ts";

export interface BareGatewayOptions {
  /** `McpServer` validates input and output, as the gateway does; `Server` is all that the protocol needs. */
  kind: "McpServer" | "Server";
  /** The tool that it has too, under the name, with the schemas and with the answer of ours. */
  answer: Answer;
}

export interface Answer {
  apps: object[];
  next_cursor: string | null;
}

export type BareGatewayCommands = Awaited<ReturnType<typeof open>>["commands"];

const INFO = { name: "bare-gateway", version: "1.0.0" };
const MODERN = "2026-07-28";

async function open({ kind, answer }: BareGatewayOptions) {
  const make = kind === "McpServer" ? () => validating(answer) : () => minimal(answer);
  const modern = createMcpHandler(make, { legacy: "reject" });
  const server = http.createServer((request, response) => void respond(request, response));
  const respond = async (request: http.IncomingMessage, response: http.ServerResponse): Promise<void> => {
    const parsedBody: unknown = JSON.parse((await buffer(request)).toString());
    const asked = new Request("http://bare/mcp", { method: "POST", headers: acceptingBoth(request.headers) });
    const isModern = request.headers["mcp-protocol-version"] === MODERN;
    const answered = isModern
      ? await modern.fetch(asked, { parsedBody })
      : await answerEarlier(make(), asked, parsedBody);
    const body = Buffer.from(await answered.arrayBuffer());
    response.writeHead(answered.status, Object.fromEntries(answered.headers)).end(body);
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await modern.close();
  };
  return { commands: { publicUrl: () => `http://127.0.0.1:${port}` }, close };
}

async function answerEarlier(server: McpServer | Server, request: Request, parsedBody: unknown): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  const answered = await transport.handleRequest(request, { parsedBody });
  await server.close();
  return answered;
}

const { tool } = TOOLS.get("service_list_apps") ?? {};
if (tool === undefined) throw new Error("There is no tool service_list_apps to compare with");
const { name, inputSchema, outputSchema, ...about } = tool;

function validating(answer: Answer): McpServer {
  const server = new McpServer(INFO);
  const schemas = { inputSchema: browseAppsRequest, outputSchema: browseAppsResponse };
  server.registerTool(name, { ...about, ...schemas }, () => resultOf(answer) as never);
  return server;
}

function minimal(answer: Answer): Server {
  const server = new Server(INFO, { capabilities: { tools: {} } });
  const tools = [{ name, ...about, inputSchema, outputSchema }];
  server.setRequestHandler("tools/list", () => ({ tools }) as never);
  server.setRequestHandler("tools/call", () => resultOf(answer) as never);
  return server;
}

function resultOf(answer: Answer): object {
  return { content: [{ type: "text", text: JSON.stringify(answer) }], structuredContent: answer };
}

/** Neither side is told what it may answer with, and the SDK would refuse that. */
function acceptingBoth(headers: http.IncomingHttpHeaders): Headers {
  const forwarded = new Headers(headers as Record<string, string>);
  forwarded.set("accept", "application/json, text/event-stream");
  return forwarded;
}

await serve(open);
