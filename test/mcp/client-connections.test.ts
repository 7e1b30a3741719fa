import { expect, test } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { openNotificationStream, openStream } from "../support/clients/mcp-notification-streams.ts";
import { executeOnServer, postgresServer } from "../support/service/test-databases.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { waitFor } from "../support/time-limits.ts";

// Without Redis, the service learns about changes over a connection to PostgreSQL, which a test can end.
const service = sharedHarness({ config: { redisUrl: null } });
/** As many programs as the service runs at the same time. */
const PROGRAMS = 8;

function gatewayOf({ personal_access_token: token }: Tenant): GatewayClient {
  return new GatewayClient(service().service.publicUrl, token);
}

/** Starts a program that deploys an app, so that a test sees that it runs, and then waits for longer than the test. */
async function startProgram({ personal_access_token: token }: Tenant, signal: AbortSignal): Promise<void> {
  const code = `await service.tools.service_deploy_app({ repo: "acme/site" }); await new Promise(() => setTimeout(() => {}, 1e9));`;
  const params = { name: "service_execute", arguments: { code, timeout_ms: 60_000 } };
  const response = await fetch(`${service().service.publicUrl}/mcp`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
    signal,
  });
  throw new Error(`the program has ended: ${await response.text()}`);
}

test("a program ends when its client disconnects, so that it does not keep other programs waiting", async () => {
  const tenants = [await service().tenant(), await service().tenant()];
  const clients = new AbortController();
  const programs = Array.from({ length: PROGRAMS }, (_, at) => startProgram(tenants[at % 2]!, clients.signal));
  const ended = Promise.allSettled(programs);
  const countApps = async ({ rest }: Tenant) => ((await rest.get("/v1/apps")).body["apps"] as unknown[]).length;
  const areRunning = waitFor(async () =>
    expect(await Promise.all(tenants.map(countApps))).toEqual([PROGRAMS / 2, PROGRAMS / 2]),
  );
  await Promise.race([areRunning, ...programs]);
  clients.abort();
  await ended;
  const next = await gatewayOf(tenants[0]!).tool("service_execute", { code: "console.log(6 * 7)" });
  expect(next.structuredContent).toMatchObject({ stdout: "42\n", exit_code: 0 });
});

test("clients are notified when the service may have missed a change of their tools", async () => {
  const { publicUrl } = service().service;
  const { personal_access_token: token } = await service().tenant();
  const streams = [await openNotificationStream(publicUrl, token), await openStream(publicUrl, token)];
  try {
    const database = new URL(service().config.databaseUrl ?? "").pathname.slice(1);
    const feeds = `select pid from pg_stat_activity where application_name = 'change feed' and datname = '${database}'`;
    await executeOnServer(postgresServer(), `select pg_terminate_backend(pid) from (${feeds}) as feeds`);
    for (const { methods } of streams)
      await waitFor(() => expect(methods).toContain("notifications/tools/list_changed"));
  } finally {
    await Promise.all(streams.map((stream) => stream.close()));
  }
});

test("a request for a stream of notifications counts as a call of the organization, and a request with an unsupported method does not", async () => {
  const tenant = await service().tenant();
  const gateway = gatewayOf(tenant);
  const countRemaining = async () => {
    const { rate_limits: limits } = (await gateway.tool("service_get_usage")).structuredContent;
    return (limits as { name: string; remaining: number }[]).find(({ name }) => name === "tool_calls")?.remaining;
  };
  expect(await countRemaining()).toBe(599);
  const stream = await openNotificationStream(service().service.publicUrl, tenant.personal_access_token);
  await stream.close();
  expect(await countRemaining()).toBe(597);
  expect((await gateway.send(undefined, {}, "DELETE")).status).toBe(405);
  expect(await countRemaining()).toBe(596);
});

test("the audit log has the client address of a tool call", async () => {
  const tenant = await service().tenant();
  expect((await gatewayOf(tenant).tool("service_deploy_app", { repo: "acme/site" })).isError).toBe(false);
  const events = await service()
    .service.parts.orm.em.fork()
    .execute("select action, address from audit_events where org_id = ?", [tenant.org_id]);
  expect(events).toEqual([{ action: "apps.deploy", address: "127.0.0.1" }]);
});
