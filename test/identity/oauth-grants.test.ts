import { createHash } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { REDIRECT_URI } from "../support/identity/client-publisher.ts";
import { OAuthRequests } from "../support/identity/oauth-requests.ts";
import { authorizeWithConsent } from "../support/identity/test-oauth-client.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness();
let user: TestUser;
let oauth: OAuthRequests;
let publicUrl: string;

/** A client that polls faster than every 5 s gets the error `slow_down`. */
const DEVICE_POLL_INTERVAL_MS = 5100;

beforeAll(async () => {
  ({ publicUrl } = service().service);
  user = new TestUser(publicUrl);
  await user.signUp();
  oauth = new OAuthRequests(publicUrl, user);
});

verifies(
  [hazard(30), "rest.auth.jwt"],
  "a token for the REST resource is valid for REST within its scope, and not valid for the gateway",
  async () => {
    const readToken = String((await oauth.grant(`${publicUrl}/v1`, "read")).body["access_token"]);
    const rest = new RestClient(publicUrl, readToken);
    expect((await rest.get("/v1/apps")).status).toBe(200);
    expect((await rest.deploy({ repo: "acme/site" })).status).toBe(403);
    expect((await new GatewayClient(publicUrl, readToken).call("tools/list")).status).toBe(401);
    const deployToken = String((await oauth.grant(`${publicUrl}/v1`, "read deploy")).body["access_token"]);
    expect((await rest.as(deployToken).deploy({ repo: "acme/site" })).status).toBe(201);
  },
);

test("an authorization requires PKCE with S256, a known resource, a registered redirect URI and the code verifier", async () => {
  const clientId = await oauth.register();
  const challenge = { code_challenge: "x".repeat(43), code_challenge_method: "S256" };
  const resource = `${publicUrl}/mcp`;
  const authorize = async (query: Record<string, string>) => {
    const url = oauth.authorizeUrl(clientId, query);
    const response = await user.send("GET", url.pathname + url.search);
    return new URL(response.headers.get("location") ?? String(response.body["url"]), publicUrl);
  };
  const invalid: Record<string, string>[] = [
    { resource },
    { resource, ...challenge, code_challenge_method: "plain" },
    { resource: "https://elsewhere.example.com/mcp", ...challenge },
    { resource, ...challenge, redirect_uri: "http://127.0.0.1:41999/elsewhere" },
    { resource, ...challenge, redirect_uri: "https://elsewhere.example.com/callback" },
  ];
  expect((await authorize({ resource, ...challenge })).pathname).toBe("/consent");
  for (const query of invalid) {
    const { pathname, searchParams, host } = await authorize(query);
    const isAccepted = pathname === "/consent" || searchParams.has("code") || host === "elsewhere.example.com";
    expect([query, isAccepted]).toEqual([query, false]);
  }
  expect((await oauth.grant(resource, "read", "y".repeat(43))).status).toBe(401);
});

test("an authorization without a resource gets a token for the gateway, with a code and on a device", async () => {
  const pkce = {
    code_challenge: createHash("sha256").update("v".repeat(43)).digest("base64url"),
    code_challenge_method: "S256",
  };
  const clientId = await oauth.register();
  const redirect = await authorizeWithConsent(user, oauth.authorizeUrl(clientId, { scope: "read", ...pkce }));
  const { body } = await oauth.requestToken({
    grant_type: "authorization_code",
    client_id: clientId,
    code: String(redirect.get("code")),
    code_verifier: "v".repeat(43),
    redirect_uri: REDIRECT_URI,
  });
  expect((await new GatewayClient(publicUrl, String(body["access_token"])).call("tools/list")).status).toBe(200);
  const empty = await user.send("GET", oauth.authorizeUrl(clientId, { scope: "read", resource: "", ...pkce }).href);
  expect(String(empty.headers.get("location") ?? empty.body["url"])).toContain("?code=");
  const deviceClientId = await oauth.registerDeviceClient();
  const device = (await oauth.requestDeviceCode(deviceClientId, undefined, "read")).body;
  await user.get(`/device?user_code=${String(device["user_code"])}`);
  expect((await user.post("/device/approve", { userCode: device["user_code"] })).status).toBe(200);
  const granted = await oauth.requestDeviceToken(deviceClientId, String(device["device_code"]), undefined);
  const gateway = new GatewayClient(publicUrl, String(granted.body["access_token"]));
  expect((await gateway.call("tools/list")).status).toBe(200);
});

verifies(hazard(29), "a password change revokes the access token and the refresh token of a client", async () => {
  const { body } = await oauth.grant(`${publicUrl}/mcp`, "read offline_access");
  const accessToken = String(body["access_token"]);
  const gateway = new GatewayClient(publicUrl, accessToken);
  expect((await gateway.call("tools/list")).status).toBe(200);
  const refresh = { grant_type: "refresh_token", refresh_token: String(body["refresh_token"]) };
  await user.post("/change-password", { currentPassword: user.password, newPassword: "another horse battery" });
  expect((await gateway.call("tools/list")).status).toBe(401);
  const claims = JSON.parse(Buffer.from(accessToken.split(".")[1]!, "base64url").toString());
  expect((await oauth.requestToken({ ...refresh, client_id: claims.client_id })).status).toBe(400);
});

test("a device gets a token for REST, once, after the user has confirmed its code", async () => {
  const resource = `${publicUrl}/v1`;
  const clientId = await oauth.registerDeviceClient();
  const { status, body } = await oauth.requestDeviceCode(clientId, resource, "everything offline_access");
  expect([status, body["verification_uri"]]).toEqual([200, `${publicUrl}/device`]);
  const deviceCode = String(body["device_code"]);
  expect((await oauth.requestDeviceToken(clientId, deviceCode, resource)).body).toMatchObject({
    error: "authorization_pending",
  });
  const userCode = String(body["user_code"]);
  expect((await new TestUser(publicUrl).post("/device/approve", { userCode })).status).toBe(401);
  expect((await user.get(`/device?user_code=${userCode}`)).status).toBe(200);
  expect((await user.post("/device/approve", { userCode })).status).toBe(200);
  await new Promise((resolve) => setTimeout(resolve, DEVICE_POLL_INTERVAL_MS));
  const granted = await oauth.requestDeviceToken(clientId, deviceCode, resource);
  expect([granted.status, granted.body]).toMatchObject([200, { refresh_token: expect.any(String) }]);
  const token = String(granted.body["access_token"]);
  expect((await new RestClient(publicUrl, token).get("/v1/apps")).status).toBe(200);
  expect((await oauth.requestDeviceToken(clientId, deviceCode, resource)).status).toBe(400);
});

test("a client gets only the user information of its scopes, and no claims that it requests separately", async () => {
  const clientId = await oauth.register();
  const codeVerifier = "v".repeat(43);
  const query = {
    scope: "openid",
    claims: JSON.stringify({ userinfo: { email: null, name: { essential: true } } }),
    code_challenge: createHash("sha256").update(codeVerifier).digest("base64url"),
    code_challenge_method: "S256",
  };
  const redirect = await authorizeWithConsent(user, oauth.authorizeUrl(clientId, query));
  const { body } = await oauth.requestToken({
    grant_type: "authorization_code",
    client_id: clientId,
    code: String(redirect.get("code")),
    code_verifier: codeVerifier,
    redirect_uri: REDIRECT_URI,
  });
  const headers = { authorization: `Bearer ${String(body["access_token"])}` };
  const response = await fetch(`${publicUrl}/api/auth/oauth2/userinfo`, { headers });
  expect([response.status, Object.keys((await response.json()) as object)]).toEqual([200, ["sub"]]);
});
