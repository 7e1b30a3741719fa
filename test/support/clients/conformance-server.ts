import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { Readable } from "node:stream";
import { ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import { isOwnOrigin } from "../../../server/mcp/origin.ts";
import { modernMembers, type PlainMethods } from "../../../server/mcp/plain-methods.ts";
import { McpTransport } from "../../../server/mcp/transport.ts";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const SILENCE = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";

const text = (words: string) => ({ type: "text", text: words });
const image = { type: "image", data: PIXEL, mimeType: "image/png" };
const audio = { type: "audio", data: SILENCE, mimeType: "audio/wav" };
const resource = (mimeType: string, words: string) => ({
  type: "resource",
  resource: { uri: "test://embedded-resource", mimeType, text: words },
});

/** The tools that the conformance suite calls by name, with the answers it asks for. */
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

function fixtureServer(): Server {
  const server = new Server(INFO, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({ tools: TOOLS }) as never);
  server.setRequestHandler("tools/call", ({ params }) => {
    const fixture = FIXTURES[params.name];
    if (fixture === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Unknown tool");
    return fixture.result as never;
  });
  return server;
}

/** Those of the fixtures that no more than a plain request asks for, the way the gateway answers such. */
const PLAIN: PlainMethods<object> = {
  "tools/list": {
    accepts: () => true,
    answer: async () => JSON.stringify({ tools: TOOLS }),
    modernMembers: modernMembers(INFO, { ttlMs: 0, cacheScope: "private" }),
  },
  "tools/call": {
    accepts: ({ name }) => typeof name === "string",
    answer: async (_context, { name }) => {
      const fixture = FIXTURES[String(name)];
      return fixture === undefined ? null : JSON.stringify(fixture.result);
    },
    modernMembers: modernMembers(INFO),
  },
};

/** The gateway's own transport with the suite's tools behind it, and no token asked for: the suite cannot send one. */
export async function conformanceServer(): Promise<{ url: string } & AsyncDisposable> {
  const transport = new McpTransport({ serverFor: fixtureServer, plainMethods: PLAIN, onError: () => undefined });
  const server = createServer((request, response) => void answer(transport, request, response)).listen(0, "127.0.0.1");
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

async function answer(
  transport: McpTransport<object>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== "POST") return void response.writeHead(405, { allow: "POST" }).end();
  if (!isOwnOrigin(request.headers, "http://localhost")) return void response.writeHead(403).end();
  const { headers } = request;
  const parsedBody = await json(request).catch(() => undefined);
  const given = await transport.answer({ headers, parsedBody, orgId: "an organization", context: {} });
  if (typeof given === "string") return void response.writeHead(200, { "content-type": "application/json" }).end(given);
  response.writeHead(given.status, Object.fromEntries(given.headers));
  if (given.body === null) response.end();
  else Readable.fromWeb(given.body).pipe(response);
}
