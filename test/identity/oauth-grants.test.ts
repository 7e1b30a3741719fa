import { createHash } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { REDIRECT } from "../support/identity/client-publisher.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { authorizeWithConsent } from "../support/identity/test-oauth-client.ts";
import { OAuthRequests } from "../support/identity/oauth-requests.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness();
let person: TestUser;
let oauth: OAuthRequests;
let publicUrl: string;

beforeAll(async () => {
  ({ publicUrl } = service().service);
  person = new TestUser(publicUrl);
  await person.signUp();
  oauth = new OAuthRequests(publicUrl, person);
});

verifies(
  [hazard(30), "rest.auth.jwt"],
  "a token for the REST resource opens REST, bounded by the scope, and not the gateway",
  async () => {
    const reading = String((await oauth.grant(`${publicUrl}/v1`, "read")).body["access_token"]);
    const rest = new RestClient(publicUrl, reading);
    expect((await rest.get("/v1/apps")).status).toBe(200);
    expect((await rest.deploy({ repo: "acme/site" })).status).toBe(403);
    expect((await new GatewayClient(publicUrl, reading).call("tools/list")).status).toBe(401);
    const deploying = String((await oauth.grant(`${publicUrl}/v1`, "read deploy")).body["access_token"]);
    expect((await rest.as(deploying).deploy({ repo: "acme/site" })).status).toBe(201);
  },
);

test("a grant needs PKCE with S256, a known resource, a registered redirect and the verifier", async () => {
  const clientId = await oauth.register();
  const challenge = { code_challenge: "x".repeat(43), code_challenge_method: "S256" };
  const resource = `${publicUrl}/mcp`;
  const sent = async (query: Record<string, string>) => {
    const url = oauth.authorizeUrl(clientId, query);
    const answer = await person.send("GET", url.pathname + url.search);
    return new URL(answer.headers.get("location") ?? String(answer.body["url"]), publicUrl);
  };
  const wrong: Record<string, string>[] = [
    { resource },
    { resource, ...challenge, code_challenge_method: "plain" },
    { resource: "https://elsewhere.example.com/mcp", ...challenge },
    { resource, ...challenge, redirect_uri: "http://127.0.0.1:41999/elsewhere" },
    { resource, ...challenge, redirect_uri: "https://elsewhere.example.com/callback" },
  ];
  expect((await sent({ resource, ...challenge })).pathname).toBe("/consent");
  for (const query of wrong) {
    const to = await sent(query);
    expect([
      query,
      to.pathname === "/consent",
      to.searchParams.has("code"),
      to.host === "elsewhere.example.com",
    ]).toEqual([...[query, false, false, false]]);
  }
  expect((await oauth.grant(resource, "read", "y".repeat(43))).status).toBe(401);
});

verifies(hazard(29), "a client loses its access when the person changes their password", async () => {
  const { body } = await oauth.grant(`${publicUrl}/mcp`, "read offline_access");
  const gateway = new GatewayClient(publicUrl, String(body["access_token"]));
  expect((await gateway.call("tools/list")).status).toBe(200);
  const refresh = { grant_type: "refresh_token", refresh_token: String(body["refresh_token"]) };
  await person.post("/change-password", { currentPassword: person.password, newPassword: "another horse battery" });
  expect((await gateway.call("tools/list")).status).toBe(401);
  const clientId = JSON.parse(
    Buffer.from(String(body["access_token"]).split(".")[1]!, "base64url").toString(),
  ).client_id;
  expect((await oauth.requestToken({ ...refresh, client_id: clientId })).status).toBe(400);
});

test("a device signs in with a code that the person confirms, and gets a token for REST", async () => {
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
  expect((await person.get(`/device?user_code=${userCode}`)).status).toBe(200);
  expect((await person.post("/device/approve", { userCode })).status).toBe(200);
  // A client that asks more often than it was told to is put off.
  await new Promise((resolve) => setTimeout(resolve, 5100));
  const granted = await oauth.requestDeviceToken(clientId, deviceCode, resource);
  expect([granted.status, granted.body]).toMatchObject([200, { refresh_token: expect.any(String) }]);
  const token = String(granted.body["access_token"]);
  expect((await new RestClient(publicUrl, token).get("/v1/apps")).status).toBe(200);
  expect((await oauth.requestDeviceToken(clientId, deviceCode, resource)).status).toBe(400);
});

test("a client learns of a person what the consent page says, and nothing that it asks for beside the scopes", async () => {
  const clientId = await oauth.register();
  const verifier = "v".repeat(43);
  const code_challenge = createHash("sha256").update(verifier).digest("base64url");
  const claims = JSON.stringify({ userinfo: { email: null, name: { essential: true } } });
  const query = { scope: "openid", claims, code_challenge, code_challenge_method: "S256" };
  const back = await authorizeWithConsent(person, oauth.authorizeUrl(clientId, query));
  const code = { code: String(back.get("code")), code_verifier: verifier, redirect_uri: REDIRECT };
  const { body } = await oauth.requestToken({ grant_type: "authorization_code", client_id: clientId, ...code });
  const headers = { authorization: `Bearer ${String(body["access_token"])}` };
  const known = await fetch(`${publicUrl}/api/auth/oauth2/userinfo`, { headers });
  expect([known.status, Object.keys((await known.json()) as object)]).toEqual([200, ["sub"]]);
});
