import { StreamableHTTPClientTransport as Transport2 } from "@modelcontextprotocol/client";
import { StreamableHTTPClientTransport as Transport1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, test } from "vitest";
import type { DiscoveredProcedure } from "../../domain/ports/procedure-discovery.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { MCP_CLIENTS } from "../support/clients/mcp-scenarios.ts";
import { discoveredProcedure, givenLiveApp } from "../support/edge/live-app.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();

/** The smallest PNG image. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** An MCP server with sessions. Its tools return what their names say, with annotations and metadata. */
const SCRIPT = `
const EXTRA = { annotations: { audience: ["user"] }, _meta: { "service/trusted": true } };
const PARTS = {
  text: { type: "text", text: "see", ...EXTRA },
  image: { type: "image", data: "${PIXEL}", mimeType: "image/png", ...EXTRA },
  audio: { type: "audio", data: "aGVsbG8=", mimeType: "audio/wav", ...EXTRA },
  file: { type: "resource", resource: { uri: "file:///a.txt", mimeType: "text/plain", text: "hello", _meta: {} }, ...EXTRA },
  blob: { type: "resource", resource: { uri: "file:///b", blob: "aGVsbG8=" } },
  link: { type: "resource_link", uri: "https://example.com/c", name: "c", description: "Fetch this", icons: [], ...EXTRA },
  broken: { type: "image", data: "not an image", mimeType: "image/png" },
  unknown: { type: "hologram", n: 1, ...EXTRA },
};
const sessions = new Set();
export default { async fetch(request) {
  if (request.method !== "POST") return new Response("ok");
  const { id, method, params } = await request.json();
  const json = (message, init) => Response.json({ jsonrpc: "2.0", id, ...message }, init);
  if (method === "initialize") {
    const session = crypto.randomUUID();
    sessions.add(session);
    return json({ result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } } },
      { headers: { "mcp-session-id": session } });
  }
  if (!sessions.has(request.headers.get("mcp-session-id"))) return json({ error: { code: -32001, message: "Session not found" } }, { status: 404 });
  if (id === undefined) return new Response(null, { status: 202 });
  if (params.name === "mixed") return json({ result: { content: Object.values(PARTS), structuredContent: { n: 1 } } });
  return json({ result: { content: params.arguments.parts.map((name) => PARTS[name]), _meta: { "service/note": "obey" } } });
} };`;

const tool = (name: string): DiscoveredProcedure =>
  discoveredProcedure(name, "mutation", {
    invocation: { via: "mcp", endpoint: "/mcp", tool: name, revision: "2025-11-25", hasSession: true },
  });

async function givenMcpApp() {
  const tenant = await service().tenant();
  const app = await givenLiveApp(service(), tenant, { script: SCRIPT, procedures: [tool("parts"), tool("mixed")] });
  return { tenant, app, gateway: new GatewayClient(service().service.publicUrl, tenant.personal_access_token) };
}

const PARTS = ["text", "image", "audio", "file", "blob", "link", "broken", "unknown"];
const FILE = { type: "resource", resource: { uri: "file:///a.txt", mimeType: "text/plain", text: "hello" } };
const LINK = { type: "resource_link", uri: "https://example.com/c", name: "c" };
const IMAGE = { type: "image", data: PIXEL, mimeType: "image/png" };
const BLOCKS = [
  IMAGE,
  { type: "audio", data: "aGVsbG8=", mimeType: "audio/wav" },
  FILE,
  { type: "resource", resource: { uri: "file:///b", blob: "aGVsbG8=" } },
  LINK,
];

for (const [name, connect] of Object.entries(MCP_CLIENTS)) {
  test(`${name} accepts images, sounds, resources and links of an app, without its metadata`, async () => {
    const { tenant, app } = await givenMcpApp();
    const options = { requestInit: { headers: { authorization: `Bearer ${tenant.personal_access_token}` } } };
    const url = new URL(`${service().service.publicUrl}/mcp`);
    const client = await connect({ v1: () => new Transport1(url, options), v2: () => new Transport2(url, options) });
    try {
      await client.listTools();
      const result = await client.callTool({ name: `${app.slug}_parts`, arguments: { parts: PARTS } });
      const { content, structuredContent } = result as { content: unknown[]; structuredContent: object };
      expect(content).toEqual([{ type: "text", text: JSON.stringify(structuredContent) }, ...BLOCKS]);
      expect(structuredContent).toEqual({
        output: [
          { type: "text", text: "see" },
          { type: "image", mimeType: "image/png", bytes: expect.any(Number) },
          { type: "audio", mimeType: "audio/wav", bytes: 6 },
          FILE,
          { type: "resource", resource: { uri: "file:///b", bytes: 6 } },
          LINK,
          { type: "image", mimeType: "image/png", bytes: 9, data: "not an image" },
          { type: "hologram", n: 1 },
        ],
        note: expect.stringContaining("1 of the 8 parts of the result were left out"),
      });
      expect(JSON.stringify(result)).not.toContain("obey");
    } finally {
      await client.close();
    }
  });
}

test("a result with structured content and an image has both", async () => {
  const { app, gateway } = await givenMcpApp();
  const { body } = await gateway.call("tools/call", { name: `${app.slug}_mixed`, arguments: {} });
  expect(body.result).toMatchObject({ structuredContent: { output: { n: 1 } } });
  expect(body.result?.["content"]).toEqual([expect.objectContaining({ type: "text" }), ...BLOCKS]);
});

test("a program receives the structured content, the text, or the list of all blocks with their data", async () => {
  const { app, gateway } = await givenMcpApp();
  const code = `
    const app = service.apps[${JSON.stringify(app.slug)}];
    const outputs = [await app.mixed({}), await app.parts({ parts: ["text"] }), await app.parts({ parts: ["image", "file", "link"] })];
    console.log(JSON.stringify(outputs));`;
  const { structuredContent } = await gateway.tool("service_execute", { code });
  expect(JSON.parse(String(structuredContent["stdout"]))).toEqual([{ n: 1 }, "see", [IMAGE, FILE, LINK]]);
});
