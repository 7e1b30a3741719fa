import { request as httpRequest } from "node:http";
import { expect, test } from "vitest";
import { mintToken } from "../../domain/tokens/mint-token.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { givenSession, sampleEntries } from "../support/service/given-session.ts";
import type { Tenant } from "../support/service/harness.ts";
import { discoveredProcedure, givenProcedures } from "../support/edge/live-app.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";
import { VALID } from "./tool-arguments.ts";

const service = sharedHarness();

async function connect(): Promise<{ tenant: Tenant; gateway: GatewayClient }> {
  const tenant = await service().tenant();
  return { tenant, gateway: new GatewayClient(service().service.publicUrl, tenant.personal_access_token) };
}

verifies(
  ["gateway.endpoint", "gateway.request.json", "gateway.tools_list", "gateway.auth.personal_access_token"],
  "200 tools/list with only a token and a content type returns the tools as JSON",
  async () => {
    const { gateway } = await connect();
    const response = await gateway.call("tools/list");
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
    const tools = await gateway.tools();
    expect(tools.map(({ name }) => name)).toEqual(Object.keys(VALID).toSorted());
    for (const tool of tools)
      expect(tool).toMatchObject({
        description: expect.stringMatching(/.{40,}/),
        inputSchema: { type: "object" },
        outputSchema: { type: "object" },
        annotations: {
          readOnlyHint: expect.any(Boolean),
          destructiveHint: expect.any(Boolean),
          idempotentHint: expect.any(Boolean),
          openWorldHint: expect.any(Boolean),
        },
      });
  },
);

verifies(
  ["gateway.request.jsonrpc", "gateway.request.id", "gateway.response", "gateway.success"],
  "200 a response has the id of its request, a number or a string, and any other JSON-RPC request is rejected with 400",
  async () => {
    const { gateway } = await connect();
    for (const id of [7, "seven", "", 0]) {
      const response = await gateway.send(JSON.stringify({ jsonrpc: "2.0", id, method: "ping" }));
      expect([response.status, JSON.parse(response.text)]).toEqual([200, { jsonrpc: "2.0", id, result: {} }]);
    }
    for (const body of [
      { id: 1, method: "ping" },
      { jsonrpc: "1.0", id: 1, method: "ping" },
      { jsonrpc: "2.0", id: 1, method: 7 },
    ])
      expect((await gateway.send(JSON.stringify(body))).status).toBe(400);
  },
);

verifies(
  "gateway.auth.gateway_token",
  "an agent's gateway token is valid for the gateway and not for REST",
  async () => {
    const { tenant, gateway } = await connect();
    const { parts } = service().service;
    const { token } = await parts.orm.em
      .fork()
      .transactional(async (em) =>
        Promise.resolve(mintToken(em, { kind: "gateway_token", name: "An agent", orgId: tenant.org_id, userId: null })),
      );
    const response = await gateway.as(token).tool("service_list_apps");
    expect(response.structuredContent).toEqual({ apps: [], next_cursor: null });
    expect((await tenant.rest.as(token).get("/v1/apps")).status).toBe(401);
  },
);

verifies("gateway.notification.202", "202 a notification gets an empty response", async () => {
  const { gateway } = await connect();
  const response = await gateway.send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }));
  expect([response.status, response.text]).toEqual([202, ""]);
});

test("405 a GET that asks for no stream of notifications, a GET of 2026-07-28 and a DELETE are rejected", async () => {
  const { gateway } = await connect();
  const modern = { accept: "text/event-stream", "mcp-protocol-version": "2026-07-28" };
  for (const [method, headers] of [
    ["GET", {}],
    ["GET", { accept: "text/html" }],
    ["GET", modern],
    ["DELETE", { accept: "text/event-stream" }],
  ] as [string, Record<string, string>][]) {
    const response = await gateway.send(undefined, headers, method);
    expect([method, headers, response.status, response.headers.get("allow")]).toEqual([
      method,
      headers,
      405,
      "GET, POST",
    ]);
  }
});

verifies(
  "gateway.auth.required",
  "401 a missing, malformed or wrong token gets a message that says where to get one",
  async () => {
    const { tenant, gateway } = await connect();
    for (const token of [null, "x", tenant.api_key, tenant.personal_access_token.slice(0, -1)]) {
      const response = await gateway.as(token).call("tools/list");
      expect([response.status, response.headers.get("www-authenticate")]).toEqual([
        401,
        expect.stringMatching(/^Bearer resource_metadata="http/),
      ]);
      expect(response.body.error).toEqual({ code: -32_001, message: expect.stringContaining("personal access token") });
    }
  },
);

test("401 REST rejects a personal access token", async () => {
  const { tenant } = await connect();
  expect((await tenant.rest.as(tenant.personal_access_token).get("/v1/apps")).status).toBe(401);
});

verifies(
  "gateway.organization",
  "403 an organization that the user is not a member of gets the same response as an unknown one",
  async () => {
    const { tenant, gateway } = await connect();
    const other = await service().tenant();
    const [foreign, absent] = await Promise.all(
      [other.org_id, "0b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e"].map((id) =>
        gateway.call("tools/list", undefined, { "x-service-org-id": id }),
      ),
    );
    expect([foreign?.status, foreign?.text]).toEqual([403, absent?.text]);
    expect((await gateway.call("tools/list", undefined, { "x-service-org-id": tenant.org_id })).status).toBe(200);
  },
);

test("403 requests from another origin, or with another host name, are rejected", async () => {
  const { gateway } = await connect();
  const own = service().service.publicUrl;
  expect((await gateway.call("tools/list", undefined, { origin: "https://evil.example" })).status).toBe(403);
  expect((await gateway.call("tools/list", undefined, { origin: "null" })).status).toBe(403);
  expect((await gateway.call("tools/list", undefined, { origin: own })).status).toBe(200);
  const status = await new Promise((resolve, reject) => {
    const headers = { host: "evil.example", "content-type": "application/json" };
    const sent = httpRequest(`${own}/mcp`, { method: "POST", headers }, (response) =>
      resolve(response.resume().statusCode),
    );
    sent.on("error", reject).end("{}");
  });
  expect(status).toBe(403);
});

const INVALID_BODIES: [string, string, number, number][] = [
  ["is not JSON", "{", 400, -32_700],
  ["is empty", "", 400, -32_700],
  ["has the id null", JSON.stringify({ jsonrpc: "2.0", id: null, method: "tools/list" }), 400, -32_600],
  ["is larger than 4 MiB", JSON.stringify({ jsonrpc: "2.0", id: 1, method: "x".repeat(4_200_000) }), 413, -32_000],
];

for (const [description, body, status, code] of INVALID_BODIES) {
  test(`${status} a body that ${description} is rejected`, async () => {
    const { gateway } = await connect();
    const response = await gateway.send(body);
    expect([response.status, response.body.error?.code]).toEqual([status, code]);
  });
}

verifies(
  "gateway.request.method",
  "an unknown method, an unknown tool and an unsupported version get JSON-RPC errors",
  async () => {
    const { gateway } = await connect();
    expect((await gateway.call("tools/sing")).body.error?.code).toBe(-32_601);
    expect((await gateway.call("tools/call", { name: "rm_rf" })).body.error).toMatchObject({ code: -32_602 });
    const wrong = await gateway.call("tools/list", undefined, { "mcp-protocol-version": "1999-01-01" });
    expect([wrong.status, wrong.body.error?.code]).toEqual([400, -32_000]);
  },
);

verifies(
  "tool.service_list_apps",
  "service_list_apps returns all fields of the organization's apps except their tokens, and no app of another organization",
  async () => {
    const { tenant, gateway } = await connect();
    await service().givenApp(await service().tenant());
    const app = await service().givenApp(tenant, { name: "guestbook" });
    await givenProcedures(service(), app, [discoveredProcedure("sign", "mutation"), discoveredProcedure("read")]);
    const response = await gateway.tool("service_list_apps");
    expect(response.structuredContent).toEqual({
      apps: [
        {
          id: app.id,
          name: "guestbook",
          slug: app.slug,
          environment: null,
          parent_id: null,
          status: "ready",
          status_message: null,
          created_at: app.createdAt.toISOString(),
          updated_at: app.updatedAt.toISOString(),
          url: expect.stringMatching(new RegExp(`^http://${app.slug}\\.localhost:\\d+/?$`)),
          runtime: null,
          procedure_count: 2,
        },
      ],
      next_cursor: null,
    });
    expect(JSON.parse(response.text)).toEqual(response.structuredContent);
  },
);

verifies("tool.service_list_apps", "service_list_apps returns all apps page by page, newest first", async () => {
  const { tenant, gateway } = await connect();
  const ids: string[] = [];
  for (let day = 1; day <= 5; day++)
    ids.unshift((await service().givenApp(tenant, { createdAt: new Date(Date.UTC(2026, 0, day)) })).id);
  const seen: string[][] = [];
  let cursor: unknown;
  do {
    const page = await gateway.tool("service_list_apps", { limit: 2, ...(cursor === undefined ? {} : { cursor }) });
    seen.push((page.structuredContent["apps"] as { id: string }[]).map(({ id }) => id));
    cursor = page.structuredContent["next_cursor"] ?? undefined;
  } while (cursor !== undefined);
  expect(seen).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
});

verifies(
  ["tool.service_get_usage", "limits.usage"],
  "service_get_usage returns the plan, its used quotas, the remaining rate limits, and usage and storage",
  async () => {
    const { tenant, gateway } = await connect();
    await tenant.rest.deploy({ repo: "acme/site" });
    await givenSession(tenant.rest, { entries: sampleEntries(2) });
    await service().givenApp(tenant, { status: "failed" });
    const other = await service().tenant();
    await service().givenApp(other);
    await other.rest.deploy({ repo: "acme/site" });
    const { structuredContent } = await gateway.tool("service_get_usage");
    expect(structuredContent).toEqual({
      plan: "scale",
      period: "now",
      quotas: expect.arrayContaining([{ metric: "apps", used: 1, limit: 10_000 }]),
      rate_limits: [
        { name: "deploy", limit: 5, window_seconds: 300, remaining: 4, reset_seconds: expect.any(Number) },
        { name: "restarts", limit: 120, window_seconds: 60, remaining: 120, reset_seconds: 0 },
        { name: "model_calls", limit: 1000, window_seconds: 86_400, remaining: 1000, reset_seconds: 0 },
        { name: "tool_calls", limit: 600, window_seconds: 60, remaining: 599, reset_seconds: expect.any(Number) },
      ],
      activity: {
        period: expect.stringMatching(/^\d{4}-\d\d$/),
        deployments: 1,
        requests: 0,
        programs: 0,
        tokens: { input: 2, output: 4, cache_read: 6, cache_write: 8, total: 20 },
      },
      storage: { limit_bytes_per_app: 10 * 1024 ** 3, total_bytes: 0, workspace_bytes: 0, apps: [] },
    });
  },
);

test("an internal error is reported without its details", async () => {
  const { tenant, gateway } = await connect();
  await service().service.parts.orm.em.fork().execute("delete from organizations where id = ?", [tenant.org_id]);
  const response = await gateway.tool("service_get_usage");
  expect(response).toMatchObject({ isError: true, text: expect.stringContaining("Internal error") });
  expect(response.text).not.toMatch(/Organization|select|\.ts/);
});

test("429 the 601st call in a minute is rejected with the seconds to wait", async () => {
  const { gateway } = await connect();
  const notification = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
  for (let n = 0; n < 20; n++) await Promise.all(Array.from({ length: 30 }, () => gateway.send(notification)));
  const response = await gateway.call("tools/list");
  const seconds = Number(response.headers.get("retry-after"));
  expect([response.status, response.body.error]).toEqual([
    429,
    { code: -32_029, message: expect.stringContaining("600 calls"), data: { retry_after_seconds: seconds } },
  ]);
  expect(seconds).toBeGreaterThanOrEqual(1);
});
