import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ProcedureResult } from "../../../domain/ports/app-caller.ts";
import { EdgeProxyCaller } from "../../../server/drivers/app-caller/edge-proxy-caller.ts";
import { IsolatedDiscovery } from "../../../server/drivers/procedure-discovery/isolated-discovery.ts";
import { openTestPlatform, type TestPlatform } from "../../support/edge/test-platform.ts";
import { writeUploadForm } from "../../support/edge/upload-form.ts";
import { bundleSource } from "../../support/procedures/test-discovery.ts";
import type { AppAddress } from "../../../server/ports/app-address.ts";

/** The smallest PNG image. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** The tools of every server. `sdk` is the version of the official SDK. */
const TOOLS = `
  import * as z from "zod";
  const text = (text) => ({ content: [{ type: "text", text }] });
  function addTools(server) {
    server.registerTool("echo", { inputSchema: z.object({ text: z.string() }) }, ({ text: said }) => text("hi " + said));
    server.registerTool("add", { inputSchema: z.object({ a: z.number(), b: z.number() }), outputSchema: z.object({ sum: z.number() }) },
      ({ a, b }) => ({ content: [{ type: "text", text: "sum" }], structuredContent: { sum: a + b } }));
    server.registerTool("files", {}, () => ({ content: [
      { type: "resource", resource: { uri: "file:///a.txt", mimeType: "text/plain", text: "hello" } },
      { type: "image", data: "${PIXEL}", mimeType: "image/png" },
      { type: "resource_link", uri: "https://example.com/b", name: "b" },
    ] }));
    server.registerTool("fail", {}, () => { throw new Error("closed on Sundays") });
    server.registerTool("slow", {}, async (...args) => {
      const extra = args.at(-1);
      const notify = extra.sendNotification ?? extra.mcpReq?.notify;
      await notify?.({ method: "notifications/message", params: { level: "info", data: "half" } });
      return text("done");
    });
    server.registerTool("ask", {}, async (...args) => {
      const extra = args.at(-1);
      const request = { method: "sampling/createMessage", params: { messages: [], maxTokens: 9 } };
      const { content } = await (extra.sendRequest ?? extra.mcpReq.send)(request, z.any());
      return text(JSON.stringify(content));
    });
    return server;
  }`;

const V1 = `
  import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
  import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";`;
const V2 = `import { createMcpHandler, McpServer, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";`;
const NEW_SERVER = `addTools(new McpServer({ name: "s", version: "1" }, { capabilities: { logging: {} } }))`;
const AT_MCP = (handle: string) => `
  export default { async fetch(request) {
    return new URL(request.url).pathname === "/mcp" ? (${handle})(request) : new Response("no", { status: 404 });
  } };`;

/** The example of the SDK: a transport for each session, and an error for a request without one. */
const withSessions = (options = "") =>
  AT_MCP(`async (request) => {
    globalThis.transports ??= new Map();
    const known = transports.get(request.headers.get("mcp-session-id"));
    if (known) return known.handleRequest(request);
    const body = await request.clone().json();
    if (body.method !== "initialize") return Response.json(
      { jsonrpc: "2.0", error: { code: -32000, message: "Bad Request: No valid session ID provided" }, id: null }, { status: 400 });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(), ${options}
      onsessioninitialized: (id) => { transports.set(id, transport) } });
    await ${NEW_SERVER}.connect(transport);
    return transport.handleRequest(request);
  }`);

const oneTransport = AT_MCP(`async (request) => {
  if (!globalThis.transport) {
    globalThis.transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => crypto.randomUUID() });
    await ${NEW_SERVER}.connect(transport);
  }
  return transport.handleRequest(request);
}`);

const withoutSessions = AT_MCP(`async (request) => {
  const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  await ${NEW_SERVER}.connect(transport);
  return transport.handleRequest(request);
}`);

const createHandler = (options: string) =>
  `const handler = createMcpHandler(() => ${NEW_SERVER}, ${options}); ${AT_MCP("(request) => handler.fetch(request)")}`;

const SERVERS: Record<string, string> = {
  "SDK 1 with sessions": V1 + TOOLS + withSessions(),
  "SDK 1 with sessions and JSON responses": V1 + TOOLS + withSessions("enableJsonResponse: true,"),
  "SDK 1 with one transport for the process": V1 + TOOLS + oneTransport,
  "SDK 1 without sessions": V1 + TOOLS + withoutSessions,
  "SDK 2 with sessions": V2 + TOOLS + withSessions(),
  "SDK 2 for both eras": V2 + TOOLS + createHandler("{}"),
  "SDK 2 for revision 2026-07-28 only": V2 + TOOLS + createHandler(`{ legacy: "reject" }`),
  "SDK 2 with event streams": V2 + TOOLS + createHandler(`{ responseMode: "sse" }`),
};

let platform: TestPlatform;
beforeAll(async () => {
  platform = await openTestPlatform();
});
afterAll(() => platform[Symbol.asyncDispose]());

/** Discovers the tools of an app, starts the app, and calls them in one run of the app. */
async function callTools(source: string, calls: [tool: string, input: Record<string, unknown>][]) {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), "mcp-app-"));
  const scriptPath = await writeUploadForm(path.join(folder.path, "bundle.form"), await bundleSource(source));
  const runtime = platform.platform.isolatedRuntime;
  const signal = AbortSignal.timeout(60_000);
  const request = {
    code: { runtime: "worker", scriptPath } as const,
    sourceDirectory: folder.path,
    variables: { values: {}, masks: [] },
    signal,
  };
  const { procedures } = await new IsolatedDiscovery({ runtime, timeoutMs: 40_000 }).discover(request);
  await using app = await runtime.start(
    {
      scriptPath,
      addModules: (main) => [
        {
          path: "/m.mjs",
          contents: `export * from ${JSON.stringify(main)}; export { default } from ${JSON.stringify(main)};`,
        },
      ],
    },
    signal,
  );
  const caller = new EdgeProxyCaller(() => ({
    host: "127.0.0.1",
    port: portOf(app.address),
    hostHeader: "app.localhost",
  }));
  return await Promise.all(
    calls.map(async ([tool, input]): Promise<ProcedureResult | string> => {
      const procedure = procedures.find(({ name }) => name === tool);
      if (procedure === undefined) return `${tool} was not found`;
      const target = { slug: "app", deploymentId: "d1", appToken: "sva_token" };
      return caller.call({ ...target, ...procedure, input, signal }).catch(String);
    }),
  );
}

test.each(Object.entries(SERVERS))("every tool of a server with %s can be called", async (_name, source) => {
  const results = await callTools(source, [
    ["echo", { text: "you" }],
    ["add", { a: 1, b: 2 }],
    ["files", {}],
    ["fail", {}],
    ["slow", {}],
    ["echo", { text: "again" }],
  ]);
  const files = [
    { type: "resource", resource: { uri: "file:///a.txt", mimeType: "text/plain", text: "hello" } },
    { type: "image", data: PIXEL, mimeType: "image/png" },
    { type: "resource_link", uri: "https://example.com/b", name: "b" },
  ];
  expect(results).toEqual([
    { ok: true, output: "hi you" },
    { ok: true, output: { sum: 3 } },
    { ok: true, output: files, content: { blocks: files, isOutput: true } },
    { ok: false, status: 200, message: expect.stringContaining("closed on Sundays") },
    { ok: true, output: "done" },
    { ok: true, output: "hi again" },
  ]);
});

test.each(["SDK 1 with sessions", "SDK 1 without sessions", "SDK 2 with sessions", "SDK 2 for both eras"])(
  "a tool of a server with %s that asks its client for input ends at once with an error",
  async (name) => {
    const [result] = await callTools(SERVERS[name] ?? "", [["ask", {}]]);
    const text = typeof result === "string" ? result : JSON.stringify(result);
    expect(text).toMatch(/sampling\/createMessage/);
  },
);

function portOf(address: AppAddress): number {
  if (!("port" in address)) throw new Error("A Worker listens on a port");
  return address.port;
}
