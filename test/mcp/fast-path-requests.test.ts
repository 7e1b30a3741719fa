import { ProtocolError } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { FastPath } from "../../server/mcp/fast-path.ts";

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "a client", version: "1.0.0" },
};

const calls: unknown[] = [];
const fastPath = new FastPath<string>(
  {
    list: async (call) => {
      if (call === "broken") throw new ProtocolError(-32_603, "The list cannot be read.");
      if (call === "crash") throw new TypeError("a bug");
      return '{"tools":[]}';
    },
    call: async (call, name, input) => {
      calls.push([call, name, input]);
      return name === "unknown" ? null : '{"content":[]}';
    },
  },
  { info: { name: "server", version: "2" }, listCache: { ttlMs: 5, cacheScope: "private" } },
);

const respond = (parsedBody: unknown, headers: Record<string, string> = {}, call = "call") =>
  fastPath.respond({ headers, parsedBody }, call);

const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const CALL = { jsonrpc: "2.0", id: "x", method: "tools/call", params: { name: "read", arguments: { a: 1 } } };
const parse = (text: string | null) => JSON.parse(text ?? "null") as unknown;

test("a plain list and a plain call of an earlier revision get the results of the tools", async () => {
  const versions = [undefined, "2025-11-25", "2025-06-18", "2025-03-26"];
  for (const version of versions) {
    const headers: Record<string, string> = version === undefined ? {} : { "mcp-protocol-version": version };
    expect(parse(await respond(LIST, headers))).toEqual({ jsonrpc: "2.0", id: 1, result: { tools: [] } });
    expect(parse(await respond({ ...LIST, params: {} }, headers))).toMatchObject({ result: { tools: [] } });
    expect(parse(await respond(CALL, headers))).toEqual({ jsonrpc: "2.0", id: "x", result: { content: [] } });
  }
  expect(calls).toContainEqual(["call", "read", { a: 1 }]);
});

test("a call without arguments reaches the tool without arguments", async () => {
  calls.length = 0;
  expect(await respond({ ...CALL, params: { name: "read" } })).not.toBeNull();
  expect(calls).toEqual([["call", "read", undefined]]);
});

test.each([
  ["a batch", [LIST]],
  ["no object", "tools/list"],
  ["null", null],
  ["an additional member", { ...LIST, extra: 1 }],
  ["another version of JSON-RPC", { ...LIST, jsonrpc: "1.0" }],
  ["a method that is not text", { ...LIST, method: 7 }],
  ["a notification", { jsonrpc: "2.0", method: "tools/list" }],
  ["an id that is null", { ...LIST, id: null }],
  ["an id with a fraction", { ...LIST, id: 1.5 }],
  ["parameters that are a list", { ...LIST, params: [] }],
  ["parameters of a list", { ...LIST, params: { cursor: "a" } }],
  ["another method", { ...LIST, method: "ping" }],
  ["another method with the parameters of a call", { ...CALL, method: "prompts/get" }],
  ["metadata of an earlier revision", { ...LIST, params: { _meta: {} } }],
  ["an additional parameter of a call", { ...CALL, params: { name: "read", task: {} } }],
  ["a name that is not text", { ...CALL, params: { name: 7 } }],
  ["arguments that are not an object", { ...CALL, params: { name: "read", arguments: [1] } }],
  ["an unknown tool", { ...CALL, params: { name: "unknown" } }],
])("a request with %s is left to the SDK", async (_name, body) => {
  calls.length = 0;
  expect(await respond(body)).toBeNull();
  expect(calls.filter((call) => (call as string[])[1] !== "unknown")).toEqual([]);
});

test.each([
  ["an unknown revision", { "mcp-protocol-version": "2024-01-01" }],
  ["a header of a later revision", { "mcp-method": "tools/list" }],
])("a request of an earlier revision with %s is left to the SDK", async (_name, headers) => {
  expect(await respond(LIST, headers)).toBeNull();
});

const modern = (method: string, name?: string) => ({
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": method,
  ...(name === undefined ? {} : { "mcp-name": name }),
});
const MODERN_LIST = { ...LIST, params: { _meta: META } };
const MODERN_CALL = { ...CALL, params: { ...CALL.params, _meta: META } };

test("results of revision 2026-07-28 say that they are complete, who the server is, and how long a list may be cached", async () => {
  const serverInfo = { "io.modelcontextprotocol/serverInfo": { name: "server", version: "2" } };
  expect(parse(await respond(MODERN_LIST, modern("tools/list")))).toEqual({
    jsonrpc: "2.0",
    id: 1,
    result: { tools: [], resultType: "complete", ttlMs: 5, cacheScope: "private", _meta: serverInfo },
  });
  expect(parse(await respond(MODERN_CALL, modern("tools/call", "read")))).toEqual({
    jsonrpc: "2.0",
    id: "x",
    result: { content: [], resultType: "complete", _meta: serverInfo },
  });
});

test.each([
  ["without metadata", LIST, modern("tools/list")],
  ["with metadata that is not an object", { ...LIST, params: { _meta: "x" } }, modern("tools/list")],
  ["with additional metadata", { ...LIST, params: { _meta: { ...META, traceparent: "00" } } }, modern("tools/list")],
  ["with another method in the header", MODERN_CALL, modern("tools/list", "read")],
  ["with another tool in the header", MODERN_CALL, modern("tools/call", "write")],
  ["without the tool in the header", MODERN_CALL, modern("tools/call")],
  ["with a tool in the header of a list", MODERN_LIST, modern("tools/list", "read")],
  [
    "with another revision in the body",
    { ...LIST, params: { _meta: { ...META, "io.modelcontextprotocol/protocolVersion": "2025-11-25" } } },
    modern("tools/list"),
  ],
  ["with an incomplete body", { ...LIST, params: { _meta: {} } }, modern("tools/list")],
])("a request of revision 2026-07-28 %s is left to the SDK", async (_name, body, headers) => {
  expect(await respond(body, headers)).toBeNull();
});

test("an error of the protocol is the response of an earlier revision, and is left to the SDK in revision 2026-07-28", async () => {
  expect(parse(await respond(LIST, {}, "broken"))).toEqual({
    jsonrpc: "2.0",
    id: 1,
    error: { code: -32_603, message: "The list cannot be read." },
  });
  expect(await respond(MODERN_LIST, modern("tools/list"), "broken")).toBeNull();
});

test("any other error is thrown", async () => {
  await expect(respond(LIST, {}, "crash")).rejects.toThrow("a bug");
});
