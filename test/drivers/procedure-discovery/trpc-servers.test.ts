import { expect, test } from "vitest";
import type { DiscoveryResult } from "../../../domain/ports/procedure-discovery.ts";
import type { ServerBuild } from "../../support/procedures/test-discovery.ts";
import { sharedDiscovery } from "../../support/procedures/shared-discovery.ts";

const shared = sharedDiscovery();

/** A router, and what a server needs to serve it. `serve` listens on port 3000. */
const serverOf = (serve: string, { create = "", procedures = "now: t.procedure.query(() => 1)" } = {}) => `
  import { initTRPC, lazy } from "@trpc/server";
  import superjson from "superjson";
  import * as z from "zod";
  import { z as z3 } from "zod/v3";
  const t = initTRPC.meta<{ description: string }>().create({ ${create} });
  const parts = t.router({ deep: t.procedure.mutation(() => 1) });
  const router = t.router({ ${procedures}, parts });
  ${serve}`;

const STANDALONE = `
  import { createHTTPServer } from "@trpc/server/adapters/standalone";
  createHTTPServer({ router }).listen(3000);`;

const summarize = ({ procedures, problem }: DiscoveryResult) => [
  procedures.map(({ name, invocation }) => `${"endpoint" in invocation ? invocation.endpoint : null} ${name}`),
  problem,
];

const ADAPTERS: { what: string; endpoint: string; build: ServerBuild; serve: string }[] = [
  { what: "tRPC's own HTTP server", endpoint: "", build: "esm", serve: STANDALONE },
  {
    what: "tRPC's own HTTP server with a path",
    endpoint: "/api/v1",
    build: "cjs",
    serve: STANDALONE.replace("{ router }", `{ router, basePath: "/api/v1/" }`),
  },
  {
    what: "Express, in a router at another path",
    endpoint: "/v2/rpc",
    build: "cjs",
    serve: `
      import express from "express";
      import { createExpressMiddleware } from "@trpc/server/adapters/express";
      const api = express.Router();
      api.use("/rpc", createExpressMiddleware({ router }));
      express().use("/v2", api).listen(3000);`,
  },
  {
    what: "Fastify",
    endpoint: "/api/trpc",
    build: "minified",
    serve: `
      import fastify from "fastify";
      import { fastifyTRPCPlugin } from "@trpc/server/adapters/fastify";
      const app = fastify();
      app.register(fastifyTRPCPlugin, { prefix: "/api/trpc", trpcOptions: { router } });
      app.listen({ port: 3000, host: "0.0.0.0" });`,
  },
  {
    what: "requests of Node.js",
    endpoint: "/calls",
    build: "esm",
    serve: `
      import http from "node:http";
      import { nodeHTTPRequestHandler } from "@trpc/server/adapters/node-http";
      const TRPC_PREFIX = "/calls";
      http.createServer((req, res) => {
        const [, path] = req.url.split("?")[0].split(TRPC_PREFIX + "/");
        if (path === undefined) return res.writeHead(404).end();
        return nodeHTTPRequestHandler({ router, req, res, path });
      }).listen(3000);`,
  },
  {
    what: "Hono, with requests of the Fetch Standard",
    endpoint: "/api/trpc/v3",
    build: "minified",
    serve: `
      import { serve } from "@hono/node-server";
      import { Hono } from "hono";
      import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
      const app = new Hono();
      app.all("/api/trpc/v3/*", ({ req }) => fetchRequestHandler({ endpoint: "/api/trpc/v3", req: req.raw, router }));
      serve({ fetch: app.fetch, port: 3000 });`,
  },
  {
    what: "a handler of Next.js whose file names its path",
    endpoint: "/api/rpc",
    build: "cjs",
    serve: `
      import http from "node:http";
      import { createNextApiHandler } from "@trpc/server/adapters/next";
      const handler = createNextApiHandler({ router });
      const base = ["", "api", "rpc", ""].join("/");
      http.createServer((req, res) => {
        if (!req.url.startsWith(base)) return res.writeHead(404).end();
        req.query = { trpc: new URL(req.url, "http://app").pathname.slice(base.length) };
        return handler(req, res);
      }).listen(3000);`,
  },
];

test.each(ADAPTERS)("the procedures that a server serves with $what are found at their path", async (adapter) => {
  const files = { "src/pages/api/rpc/[trpc].ts": "", "README.md": "" };
  const found = await shared().discoverServer(serverOf(adapter.serve), { build: adapter.build, files });
  expect(summarize(found)).toEqual([[`${adapter.endpoint} now`, `${adapter.endpoint} parts.deep`], null]);
});

test("schemas, descriptions and the transformer are read as those of a Worker", async () => {
  const procedures = `
    three: t.procedure.meta({ description: "By zod 3" }).input(z3.object({ at: z3.date(), n: z3.number().default(3) })).query(() => 1),
    four: t.procedure.input(z.object({ tags: z.set(z.string()) })).output(z.object({ id: z.int() })).mutation(() => ({ id: 1 })),
    standard: t.procedure.input({ "~standard": {
      version: 1, vendor: "test", validate: (value) => ({ value }), jsonSchema: { input: () => ({ type: "object", title: "own" }) },
    } } as any).query(() => 1),
    live: t.procedure.subscription(async function* () { yield 1; }),
    slow: lazy(async () => t.router({ one: t.procedure.query(() => 1) }))`;
  const source = serverOf(STANDALONE, { create: "transformer: superjson", procedures });
  const { procedures: found, problem } = await shared().discoverServer(source, { build: "minified" });
  const [three, four, standard] = found;
  const invocation = { via: "trpc", endpoint: "", transformer: "superjson", isInputOptional: false };
  expect(found.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    "query three",
    "mutation four",
    "query standard",
    "mutation parts.deep",
    "query slow.one",
  ]);
  expect(three).toEqual({
    name: "three",
    kind: "query",
    description: "By zod 3",
    inputSchema: {
      type: "object",
      properties: {
        at: { type: "string", format: "date-time", "x-js-type": "Date" },
        n: { type: "number", default: 3 },
      },
      required: ["at"],
    },
    outputSchema: null,
    invocation,
  });
  expect(four).toMatchObject({
    inputSchema: {
      properties: { tags: { type: "array", items: { type: "string" }, uniqueItems: true, "x-js-type": "Set" } },
    },
    outputSchema: { type: "object", required: ["id"] },
  });
  expect(standard?.inputSchema).toEqual({ type: "object", title: "own" });
  expect(problem).toBe('Left out because they are subscriptions, which have no end: "live".');
});

test("a router whose context needs variables is found, and so is one that is created in another process", async () => {
  const failing = serverOf(
    STANDALONE.replace("{ router }", `{ router, createContext: () => { throw new Error("no key") } }`),
  );
  expect(summarize(await shared().discoverServer(failing))).toEqual([[" now", " parts.deep"], null]);
  const cluster = `
    import cluster from "node:cluster";
    if (cluster.isPrimary) cluster.fork(); else { ${STANDALONE.replace(/import.*/, "")} }`;
  const source = serverOf(`import { createHTTPServer } from "@trpc/server/adapters/standalone"; ${cluster}`);
  expect(summarize(await shared().discoverServer(source))).toEqual([[" now", " parts.deep"], null]);
});

test("a server that requires its variables to start is found, and a problem does not contain them", async () => {
  const key = "key-of-the-payment-service";
  const requiring = (value: string) =>
    serverOf(`if (process.env.KEY !== "${value}") throw new Error("KEY is wrong: " + process.env.KEY); ${STANDALONE}`);
  const variables = { KEY: key };
  expect(summarize(await shared().discoverServer(requiring(key), { variables }))).toEqual([
    [" now", " parts.deep"],
    null,
  ]);
  const { problem } = await shared().discoverServer(requiring("other"), { variables });
  expect(problem).toContain("KEY is wrong: [masked]");
  expect(problem).not.toContain(key);
});

test("a router that no path serves is reported, and does not hide the operations that the server offers otherwise", async () => {
  const document = { openapi: "3.1.0", paths: { "/a": { get: { operationId: "readA" } } } };
  const serve = `
    import http from "node:http";
    http.createServer((req, res) => {
      res.statusCode = req.url === "/openapi.json" ? 200 : 404;
      res.end(req.url === "/openapi.json" ? JSON.stringify(${JSON.stringify(document)}) : "none");
    }).listen(3000);`;
  expect(await shared().discoverServer(serverOf(serve))).toMatchObject({
    procedures: [{ name: "readA", invocation: { via: "openapi" } }],
    problem: expect.stringContaining("serves it neither at /trpc nor at /api/trpc"),
  });
});

test("a server that responds like tRPC, and whose router is not one of tRPC 11, is told which version is supported", async () => {
  const error = { message: `No "query"-procedure on path "__probe__"`, code: -32004, data: { path: "__probe__" } };
  const { procedures, problem } = await shared().discoverServer(`
    // An application of @trpc/server 10.
    import http from "node:http";
    http.createServer((req, res) => res.writeHead(404).end(JSON.stringify({ error: ${JSON.stringify(error)} }))).listen(3000);`);
  expect([procedures, problem]).toEqual([[], expect.stringContaining("Only tRPC 11 is supported")]);
});

test("a server that depends on tRPC and creates no router is told what to do", async () => {
  const files = { "package.json": JSON.stringify({ dependencies: { "@trpc/server": "^11" } }) };
  const source = `
    import "@trpc/server";
    import http from "node:http";
    http.createServer((req, res) => res.writeHead(404).end(JSON.stringify({ jsonrpc: "2.0", error: { code: -32600, message: "No" } }))).listen(3000);`;
  const { procedures, problem } = await shared().discoverServer(source, { files });
  expect([procedures, problem]).toEqual([[], expect.stringContaining("its server created no router")]);
});
