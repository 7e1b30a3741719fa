import { request as httpRequest } from "node:http";
import { expect, test } from "vitest";
import { mintToken } from "../../domain/tokens/mint-token.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import type { Tenant } from "../support/service/harness.ts";
import { givenProcedures, offered } from "../support/edge/served-app.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness();

async function connected(): Promise<{ tenant: Tenant; gateway: GatewayClient }> {
  const tenant = await service().tenant();
  return { tenant, gateway: new GatewayClient(service().service.publicUrl, tenant.personal_access_token) };
}

verifies(
  ["gateway.endpoint", "gateway.request.json", "gateway.tools_list", "gateway.auth.personal_access_token"],
  "200 answers the specification's own call, of two headers, in JSON",
  async () => {
    const { gateway } = await connected();
    const answer = await gateway.call("tools/list");
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/json"]);
    const tools = await gateway.tools();
    expect(tools.map(({ name }) => name)).toEqual([
      "service_docs_search",
      "service_execute",
      "service_get_usage",
      "service_list_apps",
    ]);
    for (const tool of tools)
      expect(tool).toMatchObject({
        description: expect.stringMatching(/.{40,}/),
        inputSchema: { type: "object" },
        outputSchema: { type: "object" },
        annotations: {
          ...{ readOnlyHint: expect.any(Boolean), destructiveHint: expect.any(Boolean) },
          ...{ idempotentHint: expect.any(Boolean), openWorldHint: expect.any(Boolean) },
        },
      });
  },
);

verifies(
  ["gateway.request.jsonrpc", "gateway.request.id", "gateway.response", "gateway.success"],
  "200 answers a JSON-RPC 2.0 response under the request's own id, a number or a string, and refuses anything else",
  async () => {
    const { gateway } = await connected();
    for (const id of [7, "seven", "", 0]) {
      const answer = await gateway.send(JSON.stringify({ jsonrpc: "2.0", id, method: "ping" }));
      expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { jsonrpc: "2.0", id, result: {} }]);
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
  "an agent is let in with its gateway token, and only at the gateway",
  async () => {
    const { tenant, gateway } = await connected();
    const { parts } = service().service;
    const { token } = await parts.orm.em
      .fork()
      .transactional(async (em) =>
        Promise.resolve(mintToken(em, { kind: "gateway_token", name: "An agent", orgId: tenant.org_id, userId: null })),
      );
    const answer = await gateway.as(token).tool("service_list_apps");
    expect(answer.structuredContent).toEqual({ apps: [], next_cursor: null });
    expect((await tenant.rest.as(token).get("/v1/apps")).status).toBe(401);
  },
);

verifies("gateway.notification.202", "202 answers a notification with nothing", async () => {
  const { gateway } = await connected();
  const answer = await gateway.send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }));
  expect([answer.status, answer.text]).toEqual([202, ""]);
});

test("405 answers GET and DELETE, and says what is taken", async () => {
  const { gateway } = await connected();
  for (const method of ["GET", "DELETE"]) {
    const answer = await gateway.send(undefined, {}, method);
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
  }
});

verifies("gateway.auth.required", "401 says where to get a token, whatever was sent instead of one", async () => {
  const { tenant, gateway } = await connected();
  for (const token of [null, "x", tenant.api_key, tenant.personal_access_token.slice(0, -1)]) {
    const answer = await gateway.as(token).call("tools/list");
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([
      401,
      expect.stringMatching(/^Bearer resource_metadata="http/),
    ]);
    expect(answer.body.error).toEqual({ code: -32_001, message: expect.stringContaining("personal access token") });
  }
});

test("401 refuses a personal access token on the REST interface", async () => {
  const { tenant } = await connected();
  expect((await tenant.rest.as(tenant.personal_access_token).get("/v1/apps")).status).toBe(401);
});

verifies(
  "gateway.organization",
  "403 refuses an organization that the token is no member of, without saying whether it exists",
  async () => {
    const { tenant, gateway } = await connected();
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

test("403 refuses a page of another site, and this server under another name", async () => {
  const { gateway } = await connected();
  const own = service().service.publicUrl;
  expect((await gateway.call("tools/list", undefined, { origin: "https://evil.example" })).status).toBe(403);
  expect((await gateway.call("tools/list", undefined, { origin: "null" })).status).toBe(403);
  expect((await gateway.call("tools/list", undefined, { origin: own })).status).toBe(200);
  const status = await new Promise((resolve, reject) => {
    const headers = { host: "evil.example", "content-type": "application/json" };
    const sent = httpRequest(`${own}/mcp`, { method: "POST", headers }, (answer) =>
      resolve(answer.resume().statusCode),
    );
    sent.on("error", reject).end("{}");
  });
  expect(status).toBe(403);
});

const UNREADABLE: [string, string, number, number][] = [
  ["is not JSON", "{", 400, -32_700],
  ["is empty", "", 400, -32_700],
  ["has no id worth the name", JSON.stringify({ jsonrpc: "2.0", id: null, method: "tools/list" }), 400, -32_600],
  ["is larger than 4 MiB", JSON.stringify({ jsonrpc: "2.0", id: 1, method: "x".repeat(4_200_000) }), 413, -32_000],
];

for (const [what, body, status, code] of UNREADABLE) {
  test(`${status} refuses a body that ${what}`, async () => {
    const { gateway } = await connected();
    const answer = await gateway.send(body);
    expect([answer.status, answer.body.error?.code]).toEqual([status, code]);
  });
}

verifies(
  "gateway.request.method",
  "an unknown method, an unknown tool and a wrong version are errors of the protocol",
  async () => {
    const { gateway } = await connected();
    expect((await gateway.call("tools/sing")).body.error?.code).toBe(-32_601);
    expect((await gateway.call("tools/call", { name: "rm_rf" })).body.error).toMatchObject({ code: -32_602 });
    const wrong = await gateway.call("tools/list", undefined, { "mcp-protocol-version": "1999-01-01" });
    expect([wrong.status, wrong.body.error?.code]).toEqual([400, -32_000]);
  },
);

verifies(
  "tool.service_list_apps",
  "service_list_apps shows what there is to know of the organization's apps, but for their tokens, and none of another's",
  async () => {
    const { tenant, gateway } = await connected();
    await service().givenApp(await service().tenant());
    const app = await service().givenApp(tenant, { name: "guestbook" });
    await givenProcedures(service(), app, [offered("sign", "mutation"), offered("read")]);
    const answer = await gateway.tool("service_list_apps");
    expect(answer.structuredContent).toEqual({
      apps: [
        {
          id: app.id,
          name: "guestbook",
          slug: app.slug,
          status: "ready",
          status_message: null,
          created_at: app.createdAt.toISOString(),
          updated_at: app.updatedAt.toISOString(),
          url: expect.stringMatching(new RegExp(`^http://${app.slug}\\.localhost:\\d+/?$`)),
          procedure_count: 2,
        },
      ],
      next_cursor: null,
    });
    expect(JSON.parse(answer.text)).toEqual(answer.structuredContent);
  },
);

verifies("tool.service_list_apps", "service_list_apps goes through all apps page by page, newest first", async () => {
  const { tenant, gateway } = await connected();
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
  "service_get_usage tells the plan, what of it is used, and what the limits have left",
  async () => {
    const { tenant, gateway } = await connected();
    await tenant.rest.deploy({ repo: "acme/site" });
    await service().givenApp(tenant, { status: "failed" });
    const stranger = await service().tenant();
    await service().givenApp(stranger);
    await stranger.rest.deploy({ repo: "acme/site" });
    const { structuredContent } = await gateway.tool("service_get_usage");
    expect(structuredContent).toEqual({
      plan: "scale",
      period: "now",
      quotas: [{ metric: "apps", used: 1, limit: 10_000 }],
      rate_limits: [
        { name: "deploy", limit: 5, window_seconds: 300, remaining: 4, reset_seconds: expect.any(Number) },
        { name: "tool_calls", limit: 600, window_seconds: 60, remaining: 599, reset_seconds: expect.any(Number) },
      ],
    });
  },
);

test("a fault is told as one, and nothing of it", async () => {
  const { tenant, gateway } = await connected();
  await service().service.parts.orm.em.fork().execute("delete from organizations where id = ?", [tenant.org_id]);
  const answer = await gateway.tool("service_get_usage");
  expect(answer).toMatchObject({ isError: true, text: expect.stringContaining("Internal error") });
  expect(answer.text).not.toMatch(/Organization|select|\.ts/);
});

test("429 refuses the 601st call in a minute, with the seconds to wait", async () => {
  const { gateway } = await connected();
  const notification = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
  for (let round = 0; round < 20; round++)
    await Promise.all(Array.from({ length: 30 }, () => gateway.send(notification)));
  const answer = await gateway.call("tools/list");
  const seconds = Number(answer.headers.get("retry-after"));
  expect([answer.status, answer.body.error]).toEqual([
    429,
    { code: -32_029, message: expect.stringContaining("600 calls"), data: { retry_after_seconds: seconds } },
  ]);
  expect(seconds).toBeGreaterThanOrEqual(1);
});
