import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { rpcClient, rpcErrorOf } from "../support/clients/rpc-client.ts";
import { OAuthRequests } from "../support/identity/oauth-requests.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";
import { waitFor } from "../support/time-limits.ts";

const service = sharedHarness({ config: { signUp: "open" } });

/** Signs up a user who connects one OAuth client to the gateway. */
async function createConnectedUser() {
  const { publicUrl } = service().service;
  const user = new TestUser(publicUrl);
  await user.signUp();
  const organization = await user.post("/organization/create", { name: "Acme", slug: crypto.randomUUID() });
  const oauth = new OAuthRequests(publicUrl, user);
  const clientId = await oauth.register({ client_name: "An agent" });
  const query = { resource: `${publicUrl}/mcp`, scope: "read offline_access" };
  const connect = async (decision: object = {}) => {
    const { body } = await oauth.grantTo(clientId, query, {}, decision);
    const gateway = new GatewayClient(publicUrl, String(body["access_token"]));
    return {
      /** In seconds since the epoch. */
      issuedAt: decodeJwt(String(body["access_token"])).iat ?? 0,
      refreshToken: String(body["refresh_token"]),
      status: async () => (await gateway.call("tools/list")).status,
    };
  };
  const { oauthConnections } = rpcClient(publicUrl, await user.accessToken());
  return { oauth, clientId, connect, oauthConnections, orgId: String(organization.body["id"]) };
}

verifies(
  "oauth_connections.revoke",
  "a user sees the connected OAuth clients, and a revocation takes effect at once, also after the client connects again",
  async () => {
    const { oauth, clientId, connect, oauthConnections } = await createConnectedUser();
    expect((await oauthConnections.list.query()).connections).toEqual([]);
    const connected = await connect();
    expect(await connected.status()).toBe(200);
    const { connections } = await oauthConnections.list.query();
    expect(connections).toEqual([
      {
        id: expect.any(String),
        name: "An agent",
        host: null,
        scopes: ["read", "offline_access"],
        organization: null,
        connected_at: expect.stringMatching(/Z$/),
        last_used_at: expect.stringMatching(/Z$/),
      },
    ]);
    const { id } = connections[0]!;
    expect(await oauthConnections.revoke.mutate({ id })).toEqual({ status: "revoked" });
    expect(await connected.status()).toBe(401);
    const refresh = { grant_type: "refresh_token", refresh_token: connected.refreshToken, client_id: clientId };
    expect((await oauth.requestToken(refresh)).status).toBe(400);
    expect((await oauthConnections.list.query()).connections).toEqual([]);
    expect((await rpcErrorOf(oauthConnections.revoke.mutate({ id }))).status).toBe(404);

    // The time of a token has a resolution of one second.
    await waitFor(() => expect(Math.floor(Date.now() / 1000)).toBeGreaterThan(connected.issuedAt));
    const again = await connect();
    expect([await again.status(), await connected.status()]).toEqual([200, 401]);
    expect((await oauthConnections.list.query()).connections).toHaveLength(1);
  },
);

test("the list names the only organization in which a client may act", async () => {
  const { connect, oauthConnections, orgId } = await createConnectedUser();
  await connect({ organizationId: orgId });
  expect((await oauthConnections.list.query()).connections).toMatchObject([{ organization: "Acme" }]);
});

test("a refreshed token remains valid, and an authorization code from before a revocation gives no access", async () => {
  const { oauth, clientId, connect, oauthConnections } = await createConnectedUser();
  const { publicUrl } = service().service;
  const { refreshToken } = await connect();
  const refresh = { grant_type: "refresh_token", refresh_token: refreshToken, client_id: clientId };
  const refreshed = await oauth.requestToken({ ...refresh, resource: `${publicUrl}/mcp` });
  const gateway = new GatewayClient(publicUrl, String(refreshed.body["access_token"]));
  expect((await gateway.call("tools/list")).status).toBe(200);
  const { id } = (await oauthConnections.list.query()).connections[0]!;
  const query = { resource: `${publicUrl}/mcp`, scope: "read", prompt: "consent" };
  const codeRequest = await oauth.authorize(clientId, query);
  await oauthConnections.revoke.mutate({ id });
  const late = await oauth.requestToken(codeRequest);
  expect(late.status).toBe(200);
  expect((await new GatewayClient(publicUrl, String(late.body["access_token"])).call("tools/list")).status).toBe(401);
});

test("404 hides the connections of another user, and 403 rejects machine tokens", async () => {
  const { publicUrl } = service().service;
  const [one, other] = [await createConnectedUser(), await createConnectedUser()];
  const connected = await one.connect();
  const { id } = (await one.oauthConnections.list.query()).connections[0]!;
  expect((await other.oauthConnections.list.query()).connections).toEqual([]);
  expect((await rpcErrorOf(other.oauthConnections.revoke.mutate({ id }))).status).toBe(404);
  expect(await connected.status()).toBe(200);
  const { rest, api_key: apiKey } = await service().tenant();
  expect((await rest.get("/v1/apps")).status).toBe(200);
  expect((await rpcErrorOf(rpcClient(publicUrl, apiKey).oauthConnections.list.query())).status).toBe(403);
});
