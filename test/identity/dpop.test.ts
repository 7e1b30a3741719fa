import { randomUUID } from "node:crypto";
import { calculateJwkThumbprint, decodeJwt, exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { openPublishedClients, type PublishedClients } from "../support/identity/published-clients.ts";

let clients: PublishedClients;

beforeAll(async () => {
  clients = await openPublishedClients();
});
afterAll(() => clients?.[Symbol.asyncDispose]());

/** Creates a key, its thumbprint, and a function that proves possession of the key in a token request (RFC 9449). */
async function createDpopKey(): Promise<{ thumbprint: string; proof: () => Promise<string> }> {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const jwk = await exportJWK(publicKey);
  const proof = () =>
    new SignJWT({ htm: "POST", htu: `${clients.publicUrl}/api/auth/oauth2/token`, jti: randomUUID() })
      .setProtectedHeader({ alg: "ES256", typ: "dpop+jwt", jwk })
      .setIssuedAt()
      .sign(privateKey);
  return { thumbprint: await calculateJwkThumbprint(jwk), proof };
}

test("the metadata documents do not offer DPoP, which no API of the service verifies", async () => {
  for (const path of [
    "/.well-known/oauth-authorization-server",
    "/.well-known/openid-configuration",
    "/.well-known/oauth-protected-resource/mcp",
    "/api/auth/.well-known/oauth-authorization-server",
    "/api/auth/.well-known/openid-configuration",
  ]) {
    const { body } = await clients.user.send("GET", path);
    expect([path, Object.keys(body).filter((name) => name.includes("dpop"))]).toEqual([path, []]);
  }
});

test("a client that sends a DPoP proof gets a bearer token, which is not bound to its key, and refreshes it", async () => {
  const { oauth, publicUrl, publisher } = clients;
  const dpop = { dpop_bound_access_tokens: true };
  const { thumbprint, proof } = await createDpopKey();
  for (const clientId of [await oauth.register(dpop), publisher.publish("/dpop.json", dpop)]) {
    const query = { resource: `${publicUrl}/mcp`, scope: "read offline_access", dpop_jkt: thumbprint };
    const first = await oauth.requestToken(await oauth.authorize(clientId, query), { dpop: await proof() });
    const refreshed = await oauth.requestToken({
      grant_type: "refresh_token",
      client_id: clientId,
      refresh_token: String(first.body["refresh_token"]),
    });
    for (const { body } of [first, refreshed]) {
      const token = String(body["access_token"]);
      expect([body["token_type"], decodeJwt(token)["cnf"]]).toEqual(["Bearer", undefined]);
      expect((await new GatewayClient(publicUrl, token).call("tools/list")).status).toBe(200);
    }
  }
});
