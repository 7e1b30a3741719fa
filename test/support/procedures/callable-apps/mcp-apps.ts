import type { CallableApp } from "./callable-app.ts";

export const MCP_APPS: CallableApp[] = [
  {
    what: "an MCP server that keeps sessions, and results that are not text only",
    name: "mcp-sessions",
    files: {
      "package.json": JSON.stringify({
        type: "module",
        main: "index.js",
        dependencies: { "@hono/mcp": "0.3.0", "@modelcontextprotocol/sdk": "1.32.2", hono: "4.12.0", zod: "4.0.5" },
      }),
      "index.js": `
        import { Hono } from "hono";
        import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
        import { StreamableHTTPTransport } from "@hono/mcp";
        import { z } from "zod";
        const createServer = () => {
          const server = new McpServer({ name: "notes", version: "1" });
          server.registerTool("greet", { inputSchema: { name: z.string() } }, ({ name }) => ({ content: [{ type: "text", text: "hi " + name }] }));
          server.registerTool("read", {}, () => ({
            content: [{ type: "resource", resource: { uri: "file:///a.txt", mimeType: "text/plain", text: "hello" } }],
          }));
          return server;
        };
        const sessions = new Map();
        const app = new Hono();
        app.all("/mcp", async (c) => {
          const id = c.req.header("mcp-session-id");
          let transport = sessions.get(id);
          if (transport === undefined) {
            if (id !== undefined) return c.json({ jsonrpc: "2.0", id: null, error: { code: -32001, message: "Session not found" } }, 404);
            transport = new StreamableHTTPTransport({
              sessionIdGenerator: () => crypto.randomUUID(),
              onsessioninitialized: (created) => sessions.set(created, transport),
            });
            await createServer().connect(transport);
          }
          return transport.handleRequest(c);
        });
        export default app;`,
    },
    calls: [
      { procedure: "greet", input: `{ name: "you" }`, args: { name: "you" }, output: "hi you" },
      {
        procedure: "read",
        input: "",
        args: {},
        output: [{ type: "resource", resource: { uri: "file:///a.txt", mimeType: "text/plain", text: "hello" } }],
      },
    ],
  },
];
