import { text } from "node:stream/consumers";
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from "@modelcontextprotocol/client";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport as Transport1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, test } from "vitest";
import { NotificationStreams } from "../../server/mcp/notification-streams.ts";
import { openNotificationStream, openStream } from "../support/clients/mcp-notification-streams.ts";
import { createHarness, type Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";
import { waitFor } from "../support/time-limits.ts";

const service = sharedHarness({ worker: true });
const INFO = { name: "a-client", version: "1.0.0" };
const CHANGED = "notifications/tools/list_changed";

/** Connects a client of an earlier revision, and waits until it has its stream of notifications. */
async function listen(generation: 1 | 2, { personal_access_token: token }: Tenant, onChange: () => void) {
  const opened = Promise.withResolvers<number>();
  const watchedFetch: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (init?.method === "GET") opened.resolve(response.status);
    return response;
  };
  const options = { requestInit: { headers: { authorization: `Bearer ${token}` } }, fetch: watchedFetch };
  const url = new URL(`${service().service.publicUrl}/mcp`);
  const client = generation === 1 ? new Client1(INFO) : new Client2(INFO, { versionNegotiation: { mode: "legacy" } });
  if (client instanceof Client1) {
    client.setNotificationHandler(ToolListChangedNotificationSchema, onChange);
    await client.connect(new Transport1(url, options));
  } else {
    client.setNotificationHandler(CHANGED, onChange);
    await client.connect(new Transport2(url, options));
  }
  expect(client.getServerCapabilities()).toMatchObject({ tools: { listChanged: true } });
  expect(await opened.promise).toBe(200);
  return client;
}

verifies(
  "gateway.clients.any",
  "clients of earlier revisions are notified when an app of their organization becomes ready or is deleted",
  async () => {
    const [tenant, stranger] = [await service().tenant(), await service().tenant()];
    const notified: string[] = [];
    const clients = await Promise.all(
      ([1, 2] as const).flatMap((generation) => [
        listen(generation, tenant, () => notified.push(`own ${generation}`)),
        listen(generation, stranger, () => notified.push(`foreign ${generation}`)),
      ]),
    );
    try {
      const { body } = await tenant.rest.deploy({ repo: "examples/hello" });
      const id = String(body["app_id"]);
      expect((await service().waitForStatus(tenant, id)).body).toMatchObject({ status: "ready" });
      await waitFor(() => expect(notified.toSorted()).toEqual(["own 1", "own 2"]));
      await tenant.rest.delete(`/v1/apps/${id}`);
      await waitFor(() => expect(notified.toSorted()).toEqual(["own 1", "own 1", "own 2", "own 2"]));
    } finally {
      await Promise.all(clients.map((client) => client.close()));
    }
  },
);

test("a stream of notifications is not cached or buffered by proxies, and requires a valid token", async () => {
  const { publicUrl } = service().service;
  const { personal_access_token: token } = await service().tenant();
  const stream = await openNotificationStream(publicUrl, token, { "mcp-protocol-version": "2025-11-25" });
  expect([stream.status, stream.headers.get("content-type"), stream.headers.get("cache-control")]).toEqual([
    200,
    "text/event-stream",
    "no-store",
  ]);
  expect(stream.headers.get("x-accel-buffering")).toBe("no");
  await stream.close();
  const rejected = await openNotificationStream(publicUrl, `${token}x`);
  expect(rejected.status).toBe(401);
  await rejected.ended;
});

test("a client of the HTTP+SSE transport is told to use Streamable HTTP, instead of waiting for ever", async () => {
  const { personal_access_token: token } = await service().tenant();
  const client = new Client1(INFO);
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const url = new URL(`${service().service.publicUrl}/mcp`);
  await expect(client.connect(new SSEClientTransport(url, { requestInit }))).rejects.toThrow(
    "Set the transport of the client to Streamable HTTP",
  );
});

test("a client of 2025-03-26, which sends no version with a GET, is notified of changes", async () => {
  const { publicUrl, parts } = service().service;
  const { org_id: orgId, personal_access_token: token } = await service().tenant();
  const changed = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<number>();
  const fetchWithoutVersion: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers);
    headers.delete("mcp-protocol-version");
    const response = await fetch(input, { ...init, headers });
    if (init?.method === "GET") {
      opened.resolve(response.status);
      parts.service.changes.announce(orgId);
    }
    return response;
  };
  const client = new Client1(INFO);
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => changed.resolve());
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new Transport1(new URL(`${publicUrl}/mcp`), { requestInit, fetch: fetchWithoutVersion }));
  expect(await opened.promise).toBe(200);
  await changed.promise;
  await client.close();
});

test("a client that chooses another organization is notified about the apps of that organization only", async () => {
  const { publicUrl, parts } = service().service;
  const [tenant, other] = [await service().tenant(), await service().tenant()];
  const foreign = await openNotificationStream(publicUrl, tenant.personal_access_token, {
    "x-service-org-id": other.org_id,
  });
  expect(foreign.status).toBe(403);
  await foreign.ended;
  const own = await openNotificationStream(publicUrl, tenant.personal_access_token);
  for (const { org_id: orgId } of [other, tenant, other]) parts.service.changes.announce(orgId);
  await waitFor(() => expect(own.methods).toEqual([CHANGED]));
  await own.close();
});

test("a subscription of 2026-07-28 is notified about the apps of its own organization only", async () => {
  const { publicUrl, parts } = service().service;
  const [tenant, other] = [await service().tenant(), await service().tenant()];
  const [own, foreign] = [
    await openStream(publicUrl, tenant.personal_access_token),
    await openStream(publicUrl, other.personal_access_token),
  ];
  for (const { org_id: orgId } of [tenant, other, tenant]) parts.service.changes.announce(orgId);
  const changesOf = ({ methods }: { methods: string[] }) => methods.filter((method) => method === CHANGED).length;
  await waitFor(() => expect([changesOf(own), changesOf(foreign)]).toEqual([2, 1]));
  await Promise.all([own.close(), foreign.close()]);
});

test("a stream of a client that names its revision has no event of the HTTP+SSE transport", async () => {
  const { personal_access_token: token } = await service().tenant();
  const firstBytes = async (version: Record<string, string>) => {
    const headers = { accept: "text/event-stream", authorization: `Bearer ${token}`, ...version };
    const { body } = await fetch(`${service().service.publicUrl}/mcp`, { headers });
    const reader = body!.getReader();
    const { value } = await reader.read();
    await reader.cancel();
    return Buffer.from(value).toString();
  };
  expect(await firstBytes({})).toMatch(/^event: endpoint\n/);
  expect(await firstBytes({ "mcp-protocol-version": "2025-11-25" })).toBe(": keep-alive\n\n");
});

test("a service that stops ends its streams of notifications and its subscriptions", async () => {
  const harness = await createHarness();
  const { publicUrl } = harness.service;
  const { personal_access_token: token } = await harness.tenant();
  const streams = [await openNotificationStream(publicUrl, token), await openStream(publicUrl, token)];
  await harness[Symbol.asyncDispose]();
  await Promise.all(streams.map(({ ended }) => ended));
});

test("a stream that is read slowly buffers a bounded number of notifications", async () => {
  const streams = new NotificationStreams();
  const stream = streams.open("one")!;
  for (let count = 0; count < 10_000; count++) streams.notifyToolsChanged("one");
  expect(stream.readableLength).toBeLessThan(8192);
  streams.close();
  expect(await text(stream)).toContain(CHANGED);
});
