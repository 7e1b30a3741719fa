import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { Readable } from "node:stream";
import { ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import { FastPath, type ToolMethods } from "../../../server/mcp/fast-path.ts";
import { isOwnOrigin } from "../../../server/mcp/plugin.ts";
import { McpTransport } from "../../../server/mcp/transport.ts";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const SILENCE = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";

const text = (content: string) => ({ type: "text", text: content });
const image = { type: "image", data: PIXEL, mimeType: "image/png" };
const audio = { type: "audio", data: SILENCE, mimeType: "audio/wav" };
const resource = (mimeType: string, content: string) => ({
  type: "resource",
  resource: { uri: "test://embedded-resource", mimeType, text: content },
});

/** The tools that the conformance suite calls by name, with the results it expects. */
const FIXTURES: Record<string, { description: string; inputSchema?: object; result: object }> = {
  test_simple_text: { description: "Text", result: { content: [text("This is a simple text response for testing.")] } },
  test_image_content: { description: "An image", result: { content: [image] } },
  test_audio_content: { description: "Audio", result: { content: [audio] } },
  test_embedded_resource: {
    description: "A resource",
    result: { content: [resource("text/plain", "This is an embedded resource content.")] },
  },
  test_multiple_content_types: {
    description: "Several kinds of content",
    result: { content: [text("Multiple content types test:"), image, resource("application/json", `{"test":"data"}`)] },
  },
  test_error_handling: {
    description: "An error",
    result: { isError: true, content: [text("This tool intentionally returns an error for testing")] },
  },
  json_schema_2020_12_tool: {
    description: "A schema of the dialect 2020-12",
    inputSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: {
        address: {
          $anchor: "addressDef",
          type: "object",
          properties: { street: { type: "string" }, city: { type: "string" } },
        },
      },
      properties: {
        name: { type: "string" },
        address: { $ref: "#/$defs/address" },
        contactMethod: { type: "string", enum: ["phone", "email"] },
        phone: { type: "string" },
        email: { type: "string" },
      },
      allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
      if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: { required: ["phone"] },
      else: { required: ["email"] },
      additionalProperties: false,
    },
    result: { content: [text("fits")] },
  },
};

const TOOLS = Object.entries(FIXTURES).map(([name, { description, inputSchema }]) => ({
  name,
  description,
  inputSchema: inputSchema ?? { type: "object", properties: {} },
}));

const INFO = { name: "fixtures", version: "1.0.0" };

function createFixtureServer(): Server {
  const server = new Server(INFO, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({ tools: TOOLS }) as never);
  server.setRequestHandler("tools/call", ({ params }) => {
    const fixture = FIXTURES[params.name];
    if (fixture === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Unknown tool");
    return fixture.result as never;
  });
  return server;
}

/** Serves the fixtures on the fast path, like the tools of the gateway. */
const FAST_TOOLS: ToolMethods<object> = {
  list: async () => JSON.stringify({ tools: TOOLS }),
  call: async (_call, name) => (FIXTURES[name] === undefined ? null : JSON.stringify(FIXTURES[name].result)),
};

/** Starts the gateway's transport with the suite's tools. It requires no token, because the suite cannot send one. */
export async function conformanceServer(): Promise<{ url: string } & AsyncDisposable> {
  const transport = new McpTransport<object>({ createServer: createFixtureServer, onError: () => undefined });
  const server = createServer((request, response) => void respond(transport, request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      await transport.close();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

const fastPath = new FastPath(FAST_TOOLS, { info: INFO, listCache: { ttlMs: 0, cacheScope: "private" } });

async function respond(
  transport: McpTransport<object>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== "POST") return void response.writeHead(405, { allow: "POST" }).end();
  if (!isOwnOrigin(request.headers, new URL("http://localhost"))) return void response.writeHead(403).end();
  const post = { headers: request.headers, parsedBody: await json(request).catch(() => undefined) };
  const fast = await fastPath.respond(post, {});
  if (fast !== null) return void response.writeHead(200, { "content-type": "application/json" }).end(fast);
  const sdkResponse = await transport.respond(post, "an organization", {});
  response.writeHead(sdkResponse.status, Object.fromEntries(sdkResponse.headers));
  if (sdkResponse.body === null) response.end();
  else Readable.fromWeb(sdkResponse.body).pipe(response);
}
