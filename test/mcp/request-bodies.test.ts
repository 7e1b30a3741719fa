import { expect, test } from "vitest";
import { isOwnOrigin } from "../../server/mcp/plugin.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();

async function connect(): Promise<GatewayClient> {
  return new GatewayClient(service().service.publicUrl, (await service().tenant()).personal_access_token);
}

test("a body of 4 MiB is accepted, and one byte more is not", async () => {
  const gateway = await connect();
  const limit = 4 * 1024 * 1024;
  const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  expect((await gateway.send(ping.padEnd(limit))).body.result).toEqual({});
  expect((await gateway.send(ping.padEnd(limit + 1))).status).toBe(413);
});

test("an error of the client is not logged as an error of the service", async () => {
  const gateway = await connect();
  const bodies = ["{", "", JSON.stringify({ jsonrpc: "2.0", id: 1, method: 7 })];
  for (const body of bodies) expect((await gateway.send(body)).status).toBe(400);
  expect(service().logged()).not.toMatch(/"level":50/);
});

const PUBLIC = "https://apps.example.com";
const LOCAL = "http://localhost:8080";

test.each([
  [PUBLIC, { host: "apps.example.com" }, true],
  [PUBLIC, { host: "apps.example.com:8443", origin: "http://apps.example.com" }, true],
  [PUBLIC, { host: "apps.example.com", origin: "https://other.example.com" }, false],
  [PUBLIC, { host: "apps.example.com", origin: "null" }, false],
  [PUBLIC, { host: "other.example.com" }, false],
  [PUBLIC, { host: "localhost:8080" }, false],
  [PUBLIC, { host: "not a host" }, false],
  [PUBLIC, {}, false],
  [LOCAL, { host: "127.0.0.1:8080", origin: "http://[::1]:6274" }, true],
  [LOCAL, { host: "rebound.example.com:8080" }, false],
])("the gateway at %s decides whether a request is of its own site: %j %s", (publicUrl, headers, isOwn) => {
  expect(isOwnOrigin(headers, new URL(publicUrl))).toBe(isOwn);
});
