import { expect, test } from "vitest";
import { sharedDiscovery } from "../../support/procedures/shared-discovery.ts";

const shared = sharedDiscovery();

/** An app whose /mcp answers each method with `answers`, an object of functions of the message and the request. */
const serving = (answers: string, send = "Response.json(reply, { headers: answers.headers ?? {} })") => `
  const answers = ${answers};
  export default { async fetch(request) {
    if (new URL(request.url).pathname !== "/mcp" || request.method !== "POST") return new Response("", { status: 404 });
    const message = await request.json();
    if (message.id === undefined) return new Response(null, { status: 202 });
    const result = answers[message.method]?.(message, request);
    const reply = { jsonrpc: "2.0", id: message.id, ...(result ? { result } : { error: { code: -32601, message: "no" } }) };
    return ${send};
  } };`;

const TOOL = `{ name: "look", inputSchema: { type: "object" } }`;
const HANDSHAKE = `initialize: () => ({ protocolVersion: "2025-06-18", capabilities: {}, serverInfo: {} })`;

test("a server that answers with an event stream is understood", async () => {
  const { procedures, problem } = await shared().discover(
    serving(
      `{ ${HANDSHAKE}, "tools/list": () => ({ tools: [${TOOL}] }) }`,
      `new Response(": hello\\n\\nevent: message\\ndata: " + JSON.stringify(reply) + "\\n\\n", { headers: { "content-type": "text/event-stream" } })`,
    ),
  );
  expect([procedures.map(({ name }) => name), problem]).toEqual([["look"], null]);
});

test("a session is kept, and every page of tools is read", async () => {
  const { procedures } = await shared().discover(
    serving(`{
      headers: { "mcp-session-id": "s1" },
      ${HANDSHAKE},
      "tools/list": ({ params }, { headers }) => {
        if (headers.get("mcp-session-id") !== "s1" || headers.get("mcp-protocol-version") !== "2025-06-18") return undefined;
        const at = Number(params.cursor ?? 0);
        return { tools: [{ ...${TOOL}, name: "tool" + at }], ...(at < 3 ? { nextCursor: String(at + 1) } : {}) };
      },
    }`),
  );
  expect(procedures.map(({ name }) => name)).toEqual(["tool0", "tool1", "tool2", "tool3"]);
});

test("a server without a handshake is asked in the revision that has none", async () => {
  const { procedures } = await shared().discover(
    serving(`{ "tools/list": ({ params }, { headers }) =>
      params._meta?.["io.modelcontextprotocol/protocolVersion"] === "2026-07-28" &&
      headers.get("mcp-protocol-version") === "2026-07-28" && headers.get("mcp-method") === "tools/list"
        ? { tools: [${TOOL}], resultType: "complete" } : undefined }`),
  );
  expect(procedures.map(({ name }) => name)).toEqual(["look"]);
});

test("a tool of any name can be called by it, and malformed ones are left out and told", async () => {
  const { procedures, problem } = await shared().discover(
    serving(`{ ${HANDSHAKE}, "tools/list": () => ({ tools: [
      { name: "do it/now!" }, { name: "do_it_now" }, { name: 7 }, null, { name: "a", inputSchema: "x" },
      { name: "odd", description: 5, annotations: { readOnlyHint: "yes" }, outputSchema: [] },
    ] }) }`),
  );
  expect(procedures.map(({ name, kind, invocation }) => [name, kind, invocation])).toEqual([
    ["do_it_now", "mutation", { via: "mcp", endpoint: "/mcp", tool: "do it/now!" }],
    ["do_it_now_2", "mutation", { via: "mcp", endpoint: "/mcp", tool: "do_it_now" }],
    ["odd", "mutation", { via: "mcp", endpoint: "/mcp", tool: "odd" }],
  ]);
  expect(problem).toContain("3 malformed");
});

test("pages without end are read up to a bound", async () => {
  const endless = `"tools/list": ({ params }) => ({ tools: [], nextCursor: String(Number(params.cursor ?? 0) + 1) })`;
  expect(await shared().discover(serving(`{ ${HANDSHAKE}, ${endless} }`))).toEqual({ procedures: [], problem: null });
});
