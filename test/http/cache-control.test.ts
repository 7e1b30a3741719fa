import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { appRouter } from "../../routers/index.ts";
import { OPERATIONS } from "../../server/rest/operations.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { subscriptionRequest } from "../support/clients/mcp-notification-streams.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();

const PROCEDURES = Object.keys(appRouter._def.procedures);
const urlOf = (path: string) => path.replaceAll(/\{(\w+)\}/g, (_, name) => (name === "number" ? "1" : randomUUID()));

/** Sends a request, and returns its status and the header. The body of a stream is not read. */
async function send(method: string, path: string, token: string, init: RequestInit = {}) {
  const response = await fetch(`${service().service.publicUrl}${path}`, {
    method,
    ...init,
    headers: { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string> | undefined) },
  });
  await response.body?.cancel();
  return [method, path, response.status, response.headers.get("cache-control")] as const;
}

test("no response of REST may be stored by a cache, with a valid and an invalid token", async () => {
  const tenant = await service().tenant();
  for (const token of [tenant.api_key, `svk_${"x".repeat(40)}`])
    for (const { method, path } of OPERATIONS) {
      const sent = await send(method, urlOf(path), token);
      expect(sent).toEqual([...sent.slice(0, 3), "no-store"]);
    }
});

test("no response to an unknown endpoint, method or escaped path of an API may be stored by a cache", async () => {
  const tenant = await service().tenant();
  const targets = [
    ["GET", "/v1/nothing", 404],
    ["GET", "/%76%31/apps", 200],
    ["GET", "/v1/apps/%zz", 400],
    ["GET", "/trpc/nothing", 404],
    ["GET", "/trpc/a/b", 404],
    ["PUT", "/trpc/apps.list", 405],
    ["GET", "/mcp/nothing", 404],
    ["DELETE", "/v1/apps", 405],
  ] as const;
  for (const [method, path, status] of targets)
    expect(await send(method, path, tenant.api_key)).toEqual([method, path, status, "no-store"]);
});

test("no response of typed RPC may be stored by a cache", async () => {
  const tenant = await service().tenant();
  const init = { headers: { "content-type": "application/json" }, body: "{" };
  for (const procedure of PROCEDURES) {
    for (const sent of [
      await send("GET", `/trpc/${procedure}`, tenant.api_key),
      await send("POST", `/trpc/${procedure}`, tenant.api_key, init),
      await send("GET", `/trpc/${procedure},apps.list?batch=1`, tenant.api_key),
    ])
      expect(sent).toEqual([...sent.slice(0, 3), "no-store"]);
  }
});

test("no response of the tool gateway may be stored by a cache, and no stream", async () => {
  const tenant = await service().tenant();
  const gateway = new GatewayClient(service().service.publicUrl, tenant.personal_access_token);
  for (const client of [gateway, gateway.as(tenant.api_key)])
    for (const method of ["tools/list", "ping", "initialize", "nothing"]) {
      const { headers } = await client.call(method);
      expect([method, headers.get("cache-control")]).toEqual([method, "no-store"]);
    }
  const accept = { headers: { accept: "text/event-stream" } };
  expect(await send("GET", "/mcp", tenant.personal_access_token, accept)).toEqual(["GET", "/mcp", 200, "no-store"]);
  const app = await service().givenApp(tenant, { status: "building" });
  const path = `/v1/apps/${app.id}/logs?follow`;
  expect(await send("GET", path, tenant.api_key)).toEqual(["GET", path, 200, "no-store"]);
  const { headers, body } = subscriptionRequest(tenant.personal_access_token);
  const subscription = await send("POST", "/mcp", tenant.personal_access_token, { headers, body });
  expect(subscription).toEqual(["POST", "/mcp", 200, "no-store"]);
});
