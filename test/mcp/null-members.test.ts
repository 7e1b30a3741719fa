import { expect, test } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0", title: null },
  "io.modelcontextprotocol/clientCapabilities": { sampling: null },
};
const INITIALIZE = {
  protocolVersion: "2025-06-18",
  capabilities: { roots: null, sampling: null, experimental: null },
  clientInfo: { name: "test", version: "1.0.0", title: null },
  _meta: null,
};
const USAGE = { name: "service_get_usage", arguments: null };
const MODERN = { "mcp-protocol-version": "2026-07-28" };

test.each([
  ["ping", null, {}],
  ["ping", "", {}],
  ["tools/list", null, {}],
  ["tools/list", { cursor: null }, {}],
  ["tools/list", { cursor: "", _meta: "" }, {}],
  ["tools/call", { ...USAGE, arguments: "" }, {}],
  ["tools/list", { cursor: null, _meta: { progressToken: null } }, {}],
  ["tools/call", USAGE, {}],
  ["tools/call", { ...USAGE, _meta: null }, {}],
  ["initialize", INITIALIZE, {}],
  ["tools/list", { cursor: null, _meta: META }, { ...MODERN, "mcp-method": "tools/list" }],
  ["tools/call", { ...USAGE, _meta: META }, { ...MODERN, "mcp-method": "tools/call", "mcp-name": USAGE.name }],
] as const)("a null or empty member of %s counts as no member: %o", async (method, params, headers) => {
  const gateway = new GatewayClient(service().service.publicUrl, (await service().tenant()).personal_access_token);
  const { status, body } = await gateway.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }), headers);
  expect([status, body]).toEqual([200, expect.objectContaining({ id: 1, result: expect.any(Object) })]);
});

test("null stays a value as an id, and in a required argument of a tool", async () => {
  const gateway = new GatewayClient(service().service.publicUrl, (await service().tenant()).personal_access_token);
  const { text } = await gateway.tool("service_docs_search", { query: null });
  expect(text).toContain("query: must be a string, not null");
  const withoutId = await gateway.send(JSON.stringify({ jsonrpc: "2.0", id: null, method: "ping" }));
  expect(withoutId.status).toBe(400);
});
