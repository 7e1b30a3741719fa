import { expect, test } from "vitest";
import { sharedDiscovery } from "../../support/procedures/shared-discovery.ts";

const shared = sharedDiscovery();

const SEND_JSON = "Response.json(reply, { headers: results.headers ?? {} })";

/**
 * An app with an MCP endpoint. `results` is the source of an object that maps methods to functions of the message and
 * the request. `send` is an expression that makes a response of the JSON-RPC message `reply`.
 */
const serverApp = (results: string, send = SEND_JSON) => `
  const results = ${results};
  export default { async fetch(request) {
    if (new URL(request.url).pathname !== "/mcp" || request.method !== "POST") return new Response("", { status: 404 });
    const message = await request.json();
    if (message.id === undefined) return new Response(null, { status: 202 });
    const result = results[message.method]?.(message, request);
    const reply = { jsonrpc: "2.0", id: message.id, ...(result ? { result } : { error: { code: -32601, message: "no" } }) };
    return ${send};
  } };`;

const TOOL = `{ name: "look", inputSchema: { type: "object" } }`;
const INITIALIZE = `initialize: () =>
  ({ protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "server", version: "1" } })`;
const LIST_ONE = `"tools/list": () => ({ tools: [${TOOL}] })`;

const sendEvents = (before: string) =>
  `new Response(${before} + "event: message\\ndata: " + JSON.stringify(reply) + "\\n\\n", { headers: { "content-type": "text/event-stream" } })`;

/** Expressions: many pings, as a list in JSON without its brackets, and as the events of a stream. */
const PING_LIST = `Array.from({ length: 50_000 }, (_, id) => JSON.stringify({ jsonrpc: "2.0", id, method: "ping" })).join(",")`;
const PINGS = `Array.from({ length: 50_000 }, (_, id) => "data: " + JSON.stringify({ jsonrpc: "2.0", id, method: "ping" }) + "\\n\\n").join("")`;

test("the tools of a server that responds with an event stream are found", async () => {
  const app = serverApp(`{ ${INITIALIZE}, ${LIST_ONE} }`, sendEvents(`": hello\\n\\n"`));
  const { procedures, problem } = await shared().discover(app);
  expect([procedures.map(({ name }) => name), problem]).toEqual([["look"], null]);
});

test("the session is kept, and every page of tools is read", async () => {
  const { procedures } = await shared().discover(
    serverApp(`{
      headers: { "mcp-session-id": "s1" },
      ${INITIALIZE},
      "tools/list": ({ params }, { headers }) => {
        if (headers.get("mcp-session-id") !== "s1" || headers.get("mcp-protocol-version") !== "2025-06-18") return undefined;
        const at = Number(params?.cursor ?? 0);
        return { tools: [{ ...${TOOL}, name: "tool" + at }], ...(at < 3 ? { nextCursor: String(at + 1) } : {}) };
      },
    }`),
  );
  expect(procedures.map(({ name }) => name)).toEqual(["tool0", "tool1", "tool2", "tool3"]);
});

test("a server without a handshake is called in revision 2026-07-28", async () => {
  const { procedures } = await shared().discover(
    serverApp(`{
      "server/discover": () => ({
        supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, resultType: "complete", ttlMs: 0, cacheScope: "private",
      }),
      "tools/list": ({ params }, { headers }) =>
        params._meta?.["io.modelcontextprotocol/protocolVersion"] === "2026-07-28" &&
        headers.get("mcp-protocol-version") === "2026-07-28" && headers.get("mcp-method") === "tools/list"
          ? { tools: [${TOOL}], resultType: "complete", ttlMs: 0, cacheScope: "private" } : undefined,
    }`),
  );
  expect(procedures.map(({ name }) => name)).toEqual(["look"]);
});

test("a tool with any name is offered, and malformed tools are left out and counted", async () => {
  const { procedures, problem } = await shared().discover(
    serverApp(`{ ${INITIALIZE}, "tools/list": () => ({ tools: [
      { name: "do it/now!" }, { name: "do_it_now" }, { name: 7 }, null, { name: "a", inputSchema: "x" },
      { name: "odd", description: 5, annotations: { readOnlyHint: "yes" }, outputSchema: [] },
      { name: "odd" }, { name: "b", inputSchema: { type: "string" } }, { name: "" },
    ] }) }`),
  );
  const server = { via: "mcp", endpoint: "/mcp", revision: "2025-06-18", hasSession: false };
  expect(procedures.map(({ name, kind, invocation }) => [name, kind, invocation])).toEqual([
    ["do_it_now", "mutation", { ...server, tool: "do it/now!" }],
    ["do_it_now_2", "mutation", { ...server, tool: "do_it_now" }],
    ["odd", "mutation", { ...server, tool: "odd" }],
  ]);
  expect(problem).toBe(
    'Left out 6 malformed tools of /mcp: number 3 (its name is not a text), number 4 (it is not a JSON object), "a" (its inputSchema is not a JSON object), "odd" (an earlier tool has the same name), "b" (its inputSchema has another type than object), number 9 (its name is empty).',
  );
});

test("a tool without a type of its input, with null members or with a title only is offered", async () => {
  const { procedures, problem } = await shared().discover(
    serverApp(`{ ${INITIALIZE}, "tools/list": () => ({ nextCursor: null, tools: [
      { name: "untyped", inputSchema: { properties: { a: { type: "string" } } }, annotations: { readOnlyHint: true, title: "T" } },
      { name: "nulls", title: "N", description: null, inputSchema: null, outputSchema: null, annotations: null },
      { name: "nullable", inputSchema: { type: ["object", "null"] } },
    ] }) }`),
  );
  expect(problem).toBeNull();
  expect(procedures.map(({ name, kind, description, inputSchema }) => [name, kind, description, inputSchema])).toEqual([
    ["untyped", "query", "T", { type: "object", properties: { a: { type: "string" } } }],
    ["nulls", "mutation", "N", { type: "object" }],
    ["nullable", "mutation", "", { type: "object" }],
  ]);
});

test("a tool whose name is in another script gets a transliterated name", async () => {
  const list = (tools: string[]) =>
    `"tools/list": () => ({ tools: ${JSON.stringify(tools.map((name) => ({ name })))} })`;
  const discover = async (...tools: string[]) => {
    const { procedures } = await shared().discover(serverApp(`{ ${INITIALIZE}, ${list(tools)} }`));
    return procedures.map(({ name }) => name);
  };
  expect(await discover("查询天气", "créer", "查 now", "погода", "!!")).toEqual([
    "ChaXunTianQi",
    "creer",
    "Cha_now",
    "pogoda",
    "tool",
  ]);
});

test.each([
  ["a path that contains mcp", "/api/v1/mcp-server"],
  ["another path that is compared with the path of the request", "/agent/tools"],
  ["the root of the app", "/"],
])("the endpoint is found at %s", async (_kind, path) => {
  const app = serverApp(`{ ${INITIALIZE}, ${LIST_ONE} }`).replace(`"/mcp"`, JSON.stringify(path));
  const { procedures } = await shared().discover(app);
  expect(procedures.map(({ invocation }) => invocation)).toEqual([expect.objectContaining({ endpoint: path })]);
});

test("the endpoint is found below the path at which a part of the app is mounted", async () => {
  const app = `const options = { basePath: "/api" };
    ${serverApp(`{ ${INITIALIZE}, ${LIST_ONE} }`).replace(`"/mcp"`, "options.basePath + '/m' + 'cp'")}`;
  const { procedures } = await shared().discover(app);
  expect(procedures.map(({ invocation }) => invocation)).toEqual([expect.objectContaining({ endpoint: "/api/mcp" })]);
});

test("an app that serves tools over the old transport HTTP+SSE only is reported", async () => {
  const app = `const method = "tools/list";
    export default { fetch: (request) =>
      new URL(request.url).pathname === "/sse" && request.method === "GET"
        ? new Response("event: endpoint\\ndata: /messages\\n\\n", { headers: { "content-type": "text/event-stream" } })
        : new Response(method, { status: 404 }) };`;
  const found = await shared().discover(app);
  expect(found).toEqual({ procedures: [], problem: expect.stringContaining("HTTP+SSE of MCP") });
});

test("the tools of a server that keeps its sessions in durable objects are found", async () => {
  const app = serverApp(`{ headers: { "mcp-session-id": "s1" }, ${INITIALIZE}, ${LIST_ONE} }`).replace(
    "export default {",
    "const server = {",
  ).concat(`
      import { DurableObject } from "cloudflare:workers";
      export class Session extends DurableObject {
        async fetch(request) {
          await this.ctx.storage.put("seen", true);
          return server.fetch(request);
        }
      }
      export default { fetch: (request, env) => env.SESSIONS.get(env.SESSIONS.idFromName("s1")).fetch(request) };`);
  const bindings = [{ type: "durable_object_namespace", name: "SESSIONS", class_name: "Session" }];
  const { procedures, problem } = await shared().discover(app, { bindings });
  expect([procedures.map(({ name }) => name), problem]).toEqual([["look"], null]);
});

test("an endpoint that fails without the bindings of the app is reported", async () => {
  const app = `export default { fetch: (request, env) => env.TOOLS.handle("tools/list", request) };`;
  const found = await shared().discover(app);
  expect(found).toEqual({
    procedures: [],
    problem: expect.stringContaining("/mcp failed with status 500 in a test run"),
  });
});

test("a path that never responds does not hide the endpoint at a later one", async () => {
  const app = serverApp(`{ ${INITIALIZE}, ${LIST_ONE} }`)
    .replace(`!== "/mcp"`, `!== "/agent"`)
    .replace(
      "if (new URL",
      `if (new URL(request.url).pathname === "/slow-mcp") await new Promise(() => setTimeout(() => {}, 60_000)); if (new URL`,
    );
  const { procedures } = await shared().discover(app);
  expect(procedures.map(({ invocation }) => invocation)).toEqual([expect.objectContaining({ endpoint: "/agent" })]);
});

test("what a call needs to know is stored: the revision, whether there are sessions, and arguments in headers", async () => {
  const properties = `{ region: { type: "string", "x-mcp-header": "Region" }, at: { properties: { id: { type: "integer", "x-mcp-header": "Id" } } }, no: { type: "array", "x-mcp-header": "No" } }`;
  const tool = `{ name: "look", inputSchema: { type: "object", properties: ${properties} } }`;
  const complete = `resultType: "complete", ttlMs: 0, cacheScope: "private"`;
  const modern = await shared().discover(
    serverApp(`{
      "server/discover": () => ({ supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, ${complete} }),
      "tools/list": () => ({ tools: [${tool}], ${complete} }),
    }`),
  );
  const earlier = await shared().discover(
    serverApp(`{ headers: { "mcp-session-id": "s1" }, ${INITIALIZE}, "tools/list": () => ({ tools: [${tool}] }) }`),
  );
  const headers = [
    { name: "Region", path: ["region"] },
    { name: "Id", path: ["at", "id"] },
  ];
  expect([modern, earlier].map(({ procedures }) => procedures[0]?.invocation)).toEqual([
    { via: "mcp", endpoint: "/mcp", tool: "look", revision: "2026-07-28", hasSession: false, headers },
    { via: "mcp", endpoint: "/mcp", tool: "look", revision: "2025-06-18", hasSession: true },
  ]);
});

test("a server that fails to list its tools is reported", async () => {
  const found = await shared().discover(serverApp(`{ ${INITIALIZE} }`));
  expect(found).toEqual({ procedures: [], problem: expect.stringContaining("failed to list its tools") });
});

test("a list of tools without a last page is read up to a bound", async () => {
  const endless = `"tools/list": ({ params }) => ({ tools: [], nextCursor: String(Number(params?.cursor ?? 0) + 1) })`;
  expect(await shared().discover(serverApp(`{ ${INITIALIZE}, ${endless} }`))).toEqual({
    procedures: [],
    problem: expect.stringContaining("The tools of 50 pages were read."),
  });
});

test("a server that repeats a page is asked for it once more only", async () => {
  const repeated = `"tools/list": () => ({ tools: [${TOOL}], nextCursor: "same" })`;
  const { procedures, problem } = await shared().discover(serverApp(`{ ${INITIALIZE}, ${repeated} }`));
  expect(procedures.map(({ name }) => name)).toEqual(["look"]);
  expect(problem).toContain("The tools of 2 pages were read.");
});

test("a server whose responses have the wrong id is abandoned when the time is up", async () => {
  const send = `Response.json({ ...reply, id: 1_000_000 })`;
  const found = await shared().discover(serverApp(`{ ${INITIALIZE}, ${LIST_ONE} }`, send), { timeoutMs: 4000 });
  expect(found).toEqual({ procedures: [], problem: expect.stringContaining("could not be read") });
});

test("an event stream that never ends is abandoned when the time is up", async () => {
  const send = `new Response(new ReadableStream({ start: (c) => c.enqueue(new TextEncoder().encode(": hello\\n\\n")) }),
    { headers: { "content-type": "text/event-stream" } })`;
  const found = await shared().discover(serverApp(`{ ${INITIALIZE}, ${LIST_ONE} }`, send), { timeoutMs: 4000 });
  expect(found).toEqual({ procedures: [], problem: expect.stringMatching(/could not be read|closed the connection/) });
});

test("a response without end is cut off at 4 MiB", async () => {
  const send = `new Response(new ReadableStream({ pull: (c) => c.enqueue(new Uint8Array(1_000_000).fill(32)) }),
    { headers: { "content-type": "application/json" } })`;
  const found = await shared().discover(serverApp(`{ ${INITIALIZE}, ${LIST_ONE} }`, send));
  expect(found).toEqual({ procedures: [], problem: "The app's response at /mcp is larger than 4194304 bytes." });
});

test.each([
  ["an event stream", sendEvents(PINGS), /more than 100 messages/],
  ["a batch", `Response.json([...JSON.parse("[" + ${PING_LIST} + "]"), reply])`, /more than 100 messages/],
])("a flood of pings in %s is rejected before the client replies to them", async (_kind, send, problem) => {
  const found = await shared().discover(serverApp(`{ ${INITIALIZE}, ${LIST_ONE} }`, send));
  expect(found).toEqual({ procedures: [], problem: expect.stringMatching(problem) });
});

test("a server that needs a request for each of many pings is abandoned after a bounded number of requests", async () => {
  const pings = `Array.from({ length: 90 }, (_, id) => "data: " + JSON.stringify({ jsonrpc: "2.0", id, method: "ping" }) + "\\n\\n").join("")`;
  const list = `"tools/list": ({ params }) => ({ tools: [], nextCursor: String(Number(params?.cursor ?? 0) + 1) })`;
  const found = await shared().discover(serverApp(`{ ${INITIALIZE}, ${list} }`, sendEvents(pings)));
  expect(found).toEqual({ procedures: [], problem: expect.stringContaining("more than 60 requests") });
});

test("a redirect of the MCP endpoint is not followed", async () => {
  const app = serverApp(`{ ${INITIALIZE}, ${LIST_ONE} }`)
    .replace(
      `{ status: 404 }`,
      `{ status: new URL(request.url).pathname === "/elsewhere" ? 200 : 307, headers: { location: "/elsewhere" } }`,
    )
    .replace(`!== "/mcp"`, `!== ["", "moved"].join("/")`);
  expect(await shared().discover(app)).toEqual({ procedures: [], problem: null });
});
