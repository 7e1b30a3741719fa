import { randomUUID } from "node:crypto";
import { once } from "node:events";
import http, { type IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import { expect, test } from "vitest";
import { listOwnOrigins, selectOwnOrigin } from "../../server/http/own-origins.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { signInAndListTools } from "../support/clients/sdk-clients.ts";
import { OAuthRequests } from "../support/identity/oauth-requests.ts";
import { TestOAuthClient } from "../support/identity/test-oauth-client.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness({ config: { signUp: "open" } });
const METADATA = "/.well-known/oauth-protected-resource";

/** Creates a user with an organization. */
async function createUser(origin = service().service.publicUrl): Promise<TestUser> {
  const user = new TestUser(origin);
  expect((await user.signUp()).status).toBe(200);
  expect((await user.post("/organization/create", { name: "Acme", slug: randomUUID() })).status).toBe(200);
  return user;
}

/** Reads a JSON document of the service under another `Host`, which `fetch` does not send. */
async function readJson(path: string, host: string): Promise<Record<string, unknown>> {
  const request = http.get(new URL(path, service().service.publicUrl), { headers: { host }, agent: false });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return (await json(response)) as Record<string, unknown>;
}

const localhost = () => `http://localhost:${service().service.port}`;

for (const generation of [1, 2] as const)
  test(`the v${generation} SDK signs in at localhost, and with a slash after the URL of the gateway`, async () => {
    const user = await createUser();
    for (const gateway of [`${localhost()}/mcp`, `${localhost()}/mcp/`, `${service().service.publicUrl}/mcp/`])
      expect(await signInAndListTools(gateway, new TestOAuthClient(user), generation)).toContain("service_list_apps");
  });

test("the metadata and the 401 of the gateway name the host that the client uses, if it is one of the service", async () => {
  const { publicUrl, port } = service().service;
  for (const [host, origin] of [
    [`localhost:${port}`, localhost()],
    [`LOCALHOST:${port}`, localhost()],
    [`127.0.0.1:${port}`, publicUrl],
    ["localhost:1", publicUrl],
    [`elsewhere.example.com:${port}`, publicUrl],
  ] as const) {
    for (const path of [METADATA, `${METADATA}/mcp`, `${METADATA}/mcp/`]) {
      const body = await readJson(path, host);
      expect([host, path, body["resource"], body["authorization_servers"]]).toEqual([
        host,
        path,
        `${origin}/mcp`,
        [publicUrl],
      ]);
    }
  }
  const challenge = await new GatewayClient(localhost(), null).call("tools/list");
  expect(challenge.headers.get("www-authenticate")).toContain(`resource_metadata="${localhost()}${METADATA}/mcp"`);
});

test("a token for one name of the machine is valid under all of them, and only for its API", async () => {
  const { publicUrl } = service().service;
  const oauth = new OAuthRequests(publicUrl, await createUser());
  const granted = await oauth.grant(`${localhost()}/mcp`, "read");
  const token = String(granted.body["access_token"]);
  for (const url of [publicUrl, localhost()]) {
    expect((await new GatewayClient(url, token).call("tools/list")).status).toBe(200);
    expect((await new RestClient(url, token).get("/v1/apps")).status).toBe(401);
  }
  const restToken = String((await oauth.grant(`${localhost()}/v1`, "read")).body["access_token"]);
  expect((await new RestClient(publicUrl, restToken).get("/v1/apps")).status).toBe(200);
});

test("a user signs up and in at localhost too, and another port of localhost is another site", async () => {
  const { publicUrl } = service().service;
  const user = await createUser(localhost());
  expect((await user.get("/get-session")).body).toHaveProperty("user");
  for (const origin of ["http://localhost:1", "http://an-app.localhost:3001", "https://localhost"])
    expect([origin, (await new TestUser(publicUrl, undefined, undefined, origin).signUp()).status]).toEqual([
      origin,
      403,
    ]);
});

test("a service with a public name has only this name", () => {
  const publicUrl = "https://apps.example.com";
  expect(listOwnOrigins(publicUrl)).toEqual([publicUrl]);
  for (const host of ["localhost", "127.0.0.1", "elsewhere.example.com", "a b", undefined])
    expect(selectOwnOrigin(publicUrl, host)).toBe(publicUrl);
  expect(listOwnOrigins("http://localhost:3000")).toEqual([
    "http://localhost:3000",
    "http://127.0.0.1:3000",
    "http://[::1]:3000",
  ]);
});
