import { expect, test } from "vitest";
import { DISCOVERY_CAPS } from "../../../domain/ports/procedure-discovery.ts";
import { sharedDiscovery } from "../../support/procedures/shared-discovery.ts";

const shared = sharedDiscovery();

const REPORT_PATH = "/__service_introspection__/";

/** A server that responds to all requests as tRPC does, and gives reports of its own. `report` is a statement. */
const forgingServer = (report: string) => `
  // An application of @trpc/server.
  import http from "node:http";
  const { emit } = Object.getPrototypeOf(http.Server.prototype).constructor.prototype;
  http.Server.prototype.emit = emit;
  const error = { error: { code: -32004, message: "none" } };
  const send = (res, text) => res.setHeader("content-type", "application/json").end(text);
  http.createServer((req, res) => {
    if (req.url.startsWith("${REPORT_PATH}")) { ${report}; return; }
    res.statusCode = 404;
    send(res, JSON.stringify(error));
  }).listen(3000);`;

const reportOf = (procedures: string, total = 1) =>
  forgingServer(
    `send(res, JSON.stringify({ found: true, total: ${total}, transformer: "none", subscriptions: [], procedures: ${procedures} }))`,
  );
const PROCEDURE = `{ kind: "query", description: "", inputs: [], isInputOptional: true, output: null }`;

test("reports without end, without a response, without JSON and in another form are problems", async () => {
  const block = "const block = Buffer.alloc(1024 * 1024, 32);";
  for (const report of [
    `{ ${block} const write = () => { while (res.write(block)); }; res.on("drain", write); write(); }`,
    `send(res, "{")`,
    `send(res, "null")`,
    `send(res, "[".repeat(5_000_000))`,
    `send(res, '{"found":true,"total":1,"transformer":"none","subscriptions":[],"procedures":[' + "{},".repeat(1_000_000) + "{}]}")`,
    `req.socket.destroy()`,
    `send(res, JSON.stringify({ found: true, total: 1, transformer: "none", procedures: [{ name: "a", kind: "shell" }] }))`,
  ]) {
    const { procedures, problem } = await shared().discoverServer(forgingServer(report), {
      build: "minified",
      timeoutMs: 10_000,
    });
    expect([report, procedures, typeof problem]).toEqual([report, [], "string"]);
    expect(problem?.length).toBeLessThan(DISCOVERY_CAPS.problemCharacters);
  }
});

test("a server that does not respond to the request for its report is abandoned", async () => {
  const found = await shared().discoverServer(forgingServer("void 0"), { build: "minified", timeoutMs: 1500 });
  expect(found).toEqual({ procedures: [], problem: expect.stringContaining("could not be read") });
});

test("names with control characters are replaced, and names that are too long are left out", async () => {
  const names = `["a\\0\\u001b[31mb", "\\ud800c", "../../d", "//other.example/e", "\\u00fc".repeat(1_000_000), "constructor"]`;
  const { procedures, problem } = await shared().discoverServer(
    reportOf(`${names}.map((name) => ({ ...${PROCEDURE}, name }))`),
  );
  expect(procedures.map(({ name }) => name)).toEqual(["a_31mb", "c", "d", "other.example_e"]);
  for (const { invocation } of procedures) expect(JSON.stringify(invocation).length).toBeLessThan(300);
  expect(problem).toContain('"constructor"');
  expect(problem?.length).toBeLessThanOrEqual(DISCOVERY_CAPS.problemCharacters);
  expect(problem).not.toMatch(/\p{Cc}/u);
});

test("a report with more procedures than are accepted is a problem, and thousands of real ones are cut", async () => {
  const tooMany = await shared().discoverServer(
    reportOf(`Array.from({ length: 10_000 }, (_, i) => ({ ...${PROCEDURE}, name: "p" + i }))`, 10_000),
  );
  expect(tooMany).toEqual({ procedures: [], problem: expect.stringContaining("cannot be read") });
  const { procedures, problem } = await shared().discoverServer(`
    import { initTRPC } from "@trpc/server";
    import { createHTTPServer } from "@trpc/server/adapters/standalone";
    const t = initTRPC.create();
    const entries = Array.from({ length: 10_000 }, (_, i) => ["p" + i, t.procedure.query(() => i)]);
    createHTTPServer({ router: t.router(Object.fromEntries(entries)) }).listen(3000);`);
  expect(procedures.length).toBe(DISCOVERY_CAPS.procedures);
  expect(problem).toContain("Only the first 2000 of 10000");
});

test("a schema that is too large or refers to another host does not leave the server", async () => {
  const { procedures, problem } = await shared().discoverServer(`
    import { initTRPC } from "@trpc/server";
    import { createHTTPServer } from "@trpc/server/adapters/standalone";
    const t = initTRPC.create();
    const read = (json) => t.procedure.input({ "~standard": { version: 1, validate: (value) => ({ value }), jsonSchema: { input: () => json } } }).query(() => 1);
    createHTTPServer({ router: t.router({
      large: read({ description: "x".repeat(100_000_000) }),
      remote: read({ type: "object", $ref: "http://elsewhere.example", $id: "http://elsewhere.example" }),
    }) }).listen(3000);`);
  expect(procedures.map(({ name, inputSchema }) => [name, inputSchema])).toEqual([["remote", { type: "object" }]]);
  expect(problem).toContain('"large"');
});

test("paths of another host, and paths that lead elsewhere, are not tried", async () => {
  const source = `
    import { initTRPC } from "@trpc/server";
    import http from "node:http";
    import { nodeHTTPRequestHandler } from "@trpc/server/adapters/node-http";
    const router = initTRPC.create().router({ now: initTRPC.create().procedure.query(() => 1) });
    const paths = ["//other.example/trpc", "/../trpc", "/a/./trpc"];
    http.createServer((req, res) =>
      paths.some((path) => req.url.startsWith(path))
        ? nodeHTTPRequestHandler({ router, req, res, path: req.url.split("/").at(-1) })
        : res.writeHead(404).end()).listen(3000);`;
  const { procedures, problem } = await shared().discoverServer(source);
  expect([procedures, problem]).toEqual([[], expect.stringContaining("serves it neither at /trpc")]);
});
