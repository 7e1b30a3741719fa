import { createPublicKey, createSign, generateKeyPairSync, type KeyObject } from "node:crypto";
import { exportJWK, exportSPKI, importJWK, type JWK, SignJWT } from "jose";
import { beforeAll, expect } from "vitest";
import { RestClient } from "../support/clients/rest-client.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness();
let owner: TestUser;
let rest: RestClient;
let publicUrl: string;

beforeAll(async () => {
  ({ publicUrl } = service().service);
  owner = new TestUser(publicUrl);
  await owner.signUp();
  rest = new RestClient(publicUrl, await owner.accessToken());
});

function decode(token: string): { header: Record<string, unknown>; payload: Record<string, unknown> } {
  const [header = "", payload = ""] = token.split(".");
  const parse = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>;
  return { header: parse(header), payload: parse(payload) };
}

function encode(header: object, payload: object): string {
  return [header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
}

function sign(header: object, payload: object, key: KeyObject): string {
  const body = encode(header, payload);
  return `${body}.${createSign("RSA-SHA256").update(body).sign(key, "base64url")}`;
}

verifies("rest.auth.jwt", "REST accepts the access token of a signed-in user, and the gateway rejects it", async () => {
  expect((await rest.get("/v1/apps")).status).toBe(200);
  const { header, payload } = decode(await owner.accessToken());
  expect(header).toMatchObject({ alg: "RS256", kid: expect.any(String) });
  expect(Object.keys(payload).toSorted()).toEqual(["active_org", "aud", "exp", "iat", "iss", "sid", "sub"]);
  expect((await new GatewayClient(publicUrl, await owner.accessToken()).call("tools/list")).status).toBe(401);
});

verifies(hazard(24), "401 rejects every forged access token with the same response", async () => {
  const genuine = await owner.accessToken();
  const { header, payload } = decode(genuine);
  const { keys } = (await owner.get("/jwks")).body as { keys: JWK[] };
  const published = await exportSPKI((await importJWK(keys[0]!, "RS256")) as never);
  const attacker = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const jwk = await exportJWK(createPublicKey(attacker.privateKey));
  const forged: Record<string, string> = {
    none: `${encode({ ...header, alg: "none" }, payload)}.`,
    "none, signed": `${encode({ ...header, alg: "none" }, payload)}.${genuine.split(".")[2]}`,
    "HS256 with the public key": await new SignJWT(payload)
      .setProtectedHeader({ alg: "HS256", kid: String(header["kid"]) })
      .sign(new TextEncoder().encode(published)),
    "another key": sign(header, payload, attacker.privateKey),
    "a key in the header": sign({ ...header, jwk }, payload, attacker.privateKey),
    "the URL of a key in the header": sign(
      { ...header, jku: `${publicUrl}/api/auth/jwks` },
      payload,
      attacker.privateKey,
    ),
    "no key id": sign({ alg: "RS256" }, payload, attacker.privateKey),
    "an unknown key id": sign({ ...header, kid: "x' or 1=1" }, payload, attacker.privateKey),
    "another payload": `${encode(header, { ...payload, sub: "0b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e" })}.${genuine.split(".")[2]}`,
    "cut short": genuine.slice(0, -4),
  };
  const anonymous = await rest.as(null).get("/v1/apps");
  for (const [forgery, token] of Object.entries(forged)) {
    const response = await rest.as(token).get("/v1/apps");
    expect([forgery, response.status, response.text]).toEqual([forgery, 401, anonymous.text]);
    expect(response.headers.get("www-authenticate")).toMatch(/^Bearer/);
  }
});

verifies(
  hazard(24),
  "401 rejects a token with a valid signature and a wrong issuer, audience, type, session or time",
  async () => {
    const key = await service().signingKey();
    const { header, payload } = decode(await owner.accessToken());
    const now = Math.floor(Date.now() / 1000);
    const invalid: Record<string, [object, object]> = {
      issuer: [header, { ...payload, iss: "https://elsewhere.example.com" }],
      audience: [header, { ...payload, aud: "https://elsewhere.example.com" }],
      "the gateway's audience": [header, { ...payload, aud: `${publicUrl}/mcp` }],
      "no audience": [header, { ...payload, aud: undefined }],
      expired: [header, { ...payload, exp: now - 60 }],
      "no expiry": [header, { ...payload, exp: undefined }],
      "not valid yet": [header, { ...payload, nbf: now + 600 }],
      "issued in the future": [header, { ...payload, iat: now + 600 }],
      "another type": [{ ...header, typ: "logout+jwt" }, payload],
      "a token of an OAuth client that names no client": [{ ...header, typ: "at+jwt" }, payload],
      "a token of an OAuth client that names neither client nor session": [
        { ...header, typ: "at+jwt" },
        { ...payload, sid: undefined },
      ],
      "a token of an OAuth client without a scope": [
        { ...header, typ: "at+jwt" },
        { ...payload, sid: undefined, client_id: "an unknown client" },
      ],
      "a critical extension": [{ ...header, crit: ["x"], x: 1 }, payload],
      jku: [{ ...header, jku: `${publicUrl}/api/auth/jwks` }, payload],
      x5u: [{ ...header, x5u: "https://elsewhere.example.com/key" }, payload],
      "no session": [header, { ...payload, sid: undefined }],
      "an unknown session": [header, { ...payload, sid: "0b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e" }],
    };
    expect((await rest.as(sign(header, payload, key)).get("/v1/apps")).status).toBe(200);
    for (const [defect, [head, body]] of Object.entries(invalid))
      expect([defect, (await rest.as(sign(head, body, key)).get("/v1/apps")).status]).toEqual([defect, 401]);
  },
);

verifies(hazard(29), "401 rejects an access token as soon as its session ends or the password changes", async () => {
  const { publicUrl: url } = service().service;
  const token = await owner.accessToken();
  expect((await rest.as(token).get("/v1/apps")).status).toBe(200);
  const otherBrowser = new TestUser(url, owner.email);
  await otherBrowser.signIn();
  const otherToken = await otherBrowser.accessToken();
  expect((await rest.as(otherToken).get("/v1/apps")).status).toBe(200);
  const change = { currentPassword: owner.password, newPassword: "another horse battery" };
  expect((await otherBrowser.post("/change-password", change)).status).toBe(200);
  expect((await rest.as(token).get("/v1/apps")).status).toBe(401);
  expect((await owner.get("/get-session")).text).toBe("null");
  expect((await owner.get("/token")).status).toBe(401);
  const newToken = await otherBrowser.accessToken();
  expect((await rest.as(newToken).get("/v1/apps")).status).toBe(200);
  await otherBrowser.post("/sign-out", {});
  expect((await rest.as(newToken).get("/v1/apps")).status).toBe(401);
});
