import { connect } from "node:net";
import { expect, test } from "vitest";
import { OPERATIONS } from "../../server/rest/operations.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();

/** The size that the request announces, and what of it is sent before the response. */
const BODY_BYTES = 20 * 1024 * 1024;
const SENT_BYTES = 1024;

/** Announces a large body, sends its first bytes only, and returns the status line of the response. */
async function announceBody(method: string, path: string, token: string, contentType: string): Promise<string> {
  const { hostname, port } = new URL(service().service.publicUrl);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(Number(port), hostname);
  socket.once("error", reject);
  socket.once("data", (chunk: Buffer) => resolve(chunk.toString()));
  socket.write(
    `${method} ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: ${contentType}\r\nContent-Length: ${BODY_BYTES}\r\n\r\n${"x".repeat(SENT_BYTES)}`,
  );
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}

async function readOnlyKey({ rest }: Tenant): Promise<string> {
  const issued = await rest.post("/v1/tokens", { kind: "api_key", name: "read only", scope: "read" });
  return String(issued.body["token"]);
}

test("every operation rejects a token without its scope before the body arrives", async () => {
  const tenant = await service().tenant();
  const token = await readOnlyKey(tenant);
  const operations = OPERATIONS.filter(
    ({ method, access }) => ["POST", "PUT", "PATCH"].includes(method) && access.scope !== "read",
  );
  expect(operations.length).toBeGreaterThan(20);
  for (const { method, path, streamedBody } of operations) {
    const url = path.replaceAll(/\{\w+\}/g, "3f0e4d54-6f5c-4f0d-8a49-7a7f5a3f4a11");
    const response = await announceBody(method, url, token, streamedBody?.contentTypes[0] ?? "application/json");
    expect([method, path, response.split("\r\n", 1)[0]]).toEqual([method, path, "HTTP/1.1 403 Forbidden"]);
    expect(response.toLowerCase()).toContain("connection: close");
  }
});

test("a rejection before the body is in the audit log", async () => {
  const tenant = await service().tenant();
  const token = await readOnlyKey(tenant);
  await announceBody("POST", "/v1/apps/deploy", token, "application/json");
  const { db } = service().service.parts;
  const events = db.selectFrom("audit_events").select(["action", "outcome"]).where("org_id", "=", tenant.org_id);
  expect(await events.execute()).toContainEqual({ action: "apps.deploy", outcome: "refused" });
});

test("no response with credentials may be stored: of no operation, with or without an error, and of no API", async () => {
  const { rest, api_key: apiKey, personal_access_token: personalToken } = await service().tenant();
  const { publicUrl } = service().service;
  for (const { method, path } of OPERATIONS) {
    const url = path.replaceAll(/\{\w+\}/g, "3f0e4d54-6f5c-4f0d-8a49-7a7f5a3f4a11");
    for (const client of [rest, rest.as(null)]) {
      const { headers } = await client.send(method === "GET" ? "GET" : "OPTIONS", url, {});
      expect([url, headers.get("cache-control")]).toEqual([url, "no-store"]);
    }
  }
  for (const [path, token] of [
    ["/trpc/apps.list", apiKey],
    ["/trpc/unknown", apiKey],
    ["/mcp", personalToken],
    ["/v1/unknown", apiKey],
  ] as const) {
    const { headers } = await fetch(`${publicUrl}${path}`, { headers: { authorization: `Bearer ${token}` } });
    expect([path, headers.get("cache-control")]).toEqual([path, "no-store"]);
  }
});

test("400 for a body with more values than any operation needs, before it is parsed", async () => {
  const { rest } = await service().tenant();
  for (const body of [`{"repo":[${"{},".repeat(60_000)}{}]}`, `{"repo":${"[".repeat(200)}${"]".repeat(200)}}`]) {
    const headers = { "content-type": "application/json" };
    const response = await rest.send("POST", "/v1/apps/deploy", { body, headers });
    expect([response.status, response.body["error"]]).toEqual([
      400,
      expect.stringContaining("The request body has more than 100000 values, or more than 100 levels."),
    ]);
  }
});

test("400 for a message to the gateway with more values than any needs, before it is parsed", async () => {
  const { personal_access_token: token } = await service().tenant();
  const response = await fetch(`${service().service.publicUrl}/mcp`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[${"{},".repeat(60_000)}{}]}}`,
  });
  expect([response.status, await response.json()]).toMatchObject([400, { error: { code: -32700 } }]);
});
