import { expect, test } from "vitest";
import { GatewayClient, type GatewayResponse } from "../support/clients/gateway-client.ts";
import { discoveredProcedure, givenProcedures } from "../support/edge/live-app.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();

const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "a client", version: "1.0.0" },
};

/** With this metadata, the SDK handles a request instead of the fast path. It does not change the response. */
const TRACE = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" };

const REVISIONS = {
  "before 2026-07-28": { plain: {}, headers: () => ({}), withTrace: { _meta: TRACE } },
  "of 2026-07-28": {
    plain: { _meta: ENVELOPE },
    headers: (method: string, { name }: { name?: string }) => ({
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(name !== undefined && { "mcp-name": name }),
    }),
    withTrace: { _meta: { ...ENVELOPE, ...TRACE } },
  },
} as const;

async function connect(): Promise<GatewayClient> {
  const tenant = await service().tenant();
  for (const name of ["one", "two"]) {
    const app = await service().givenApp(tenant, { name, createdAt: new Date(0) });
    await givenProcedures(service(), app, [discoveredProcedure("read"), discoveredProcedure("write", "mutation")]);
  }
  return new GatewayClient(service().service.publicUrl, tenant.personal_access_token);
}

/** The parts of a response that are the same for equal requests. */
function comparable({ status, headers, text }: GatewayResponse): object {
  const others = [...headers].filter(([name]) => name !== "date" && name !== "x-request-id");
  return { status, headers: others, text };
}

for (const [revision, { plain, headers, withTrace }] of Object.entries(REVISIONS))
  test(`requests ${revision} get identical responses from the fast path and from the SDK`, async () => {
    const gateway = await connect();
    const directTool = (await gateway.tools()).map(({ name }) => String(name)).find((name) => name.startsWith("one-"));
    const requests: [string, { name?: string; arguments?: object }][] = [
      ["tools/list", {}],
      ["tools/call", { name: "service_list_apps" }],
      ["tools/call", { name: "service_list_apps", arguments: { limit: 1 } }],
      ["tools/call", { name: "service_list_apps", arguments: { limit: 0 } }],
      ["tools/call", { name: "service_docs_search", arguments: { query: "read" } }],
      ["tools/call", { name: directTool ?? "", arguments: {} }],
      ["tools/call", { name: "no such tool", arguments: {} }],
      ["tools/call", { name: "constructor" }],
      ["no/such-method", {}],
    ];
    for (const [method, params] of requests) {
      const [fast, fromSdk] = [
        await gateway.call(method, { ...params, ...plain }, headers(method, params)),
        await gateway.call(method, { ...params, ...withTrace }, headers(method, params)),
      ];
      expect(comparable(fast), `${method} ${JSON.stringify(params)}`).toEqual(comparable(fromSdk));
    }
  });

test("a request of 2026-07-28 whose headers contradict its body is rejected", async () => {
  const gateway = await connect();
  const params = { name: "service_list_apps", arguments: {}, _meta: ENVELOPE };
  const good = REVISIONS["of 2026-07-28"].headers("tools/call", params);
  expect((await gateway.call("tools/call", params, good)).status).toBe(200);
  const { "io.modelcontextprotocol/clientCapabilities": _capabilities, ...incomplete } = ENVELOPE;
  const earlier = { ...ENVELOPE, "io.modelcontextprotocol/protocolVersion": "2025-11-25" };
  for (const [headers, meta] of [
    [{ ...good, "mcp-name": "service_execute" }, ENVELOPE],
    [{ ...good, "mcp-method": "tools/list" }, ENVELOPE],
    [{ "mcp-protocol-version": "2026-07-28" }, ENVELOPE],
    [good, incomplete],
    [good, earlier],
    [good, {}],
  ] as const) {
    const response = await gateway.call("tools/call", { ...params, _meta: meta }, headers);
    expect([response.status, response.body.error === undefined]).toEqual([400, false]);
  }
});
