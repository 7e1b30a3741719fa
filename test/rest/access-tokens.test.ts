import { createPublicKey, createSign, generateKeyPairSync, type KeyObject } from "node:crypto";
import { exportJWK, exportSPKI, importJWK, type JWK, SignJWT } from "jose";
import { beforeAll, expect } from "vitest";
import type { RestClient as Rest } from "../support/clients/rest-client.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness();
let owner: TestUser;
let rest: Rest;
let publicUrl: string;

beforeAll(async () => {
  ({ publicUrl } = service().service);
  owner = new TestUser(publicUrl);
  await owner.signUp();
  rest = new RestClient(publicUrl, await owner.accessToken());
});

function parts(token: string): { header: Record<string, unknown>; payload: Record<string, unknown> } {
  const [header = "", payload = ""] = token.split(".");
  const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>;
  return { header: read(header), payload: read(payload) };
}

function unsigned(header: object, payload: object): string {
  return [header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
}

function signed(header: object, payload: object, key: KeyObject): string {
  const body = unsigned(header, payload);
  return `${body}.${createSign("RSA-SHA256").update(body).sign(key, "base64url")}`;
}

verifies(
  "rest.auth.jwt",
  "200 accepts the access token of a person who signed in, and the gateway does not",
  async () => {
    expect((await rest.get("/v1/apps")).status).toBe(200);
    const { header, payload } = parts(await owner.accessToken());
    expect(header).toMatchObject({ alg: "RS256", kid: expect.any(String) });
    expect(Object.keys(payload).toSorted()).toEqual(["aud", "exp", "iat", "iss", "sid", "sub"]);
    expect((await new GatewayClient(publicUrl, await owner.accessToken()).call("tools/list")).status).toBe(401);
  },
);

verifies(hazard(24), "401 answers every forged, misdirected or outdated access token the same", async () => {
  const genuine = await owner.accessToken();
  const { header, payload } = parts(genuine);
  const { keys } = (await owner.get("/jwks")).body as { keys: JWK[] };
  const published = await exportSPKI((await importJWK(keys[0]!, "RS256")) as never);
  const mine = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const jwk = await exportJWK(createPublicKey(mine.privateKey));
  const forged: Record<string, string> = {
    none: `${unsigned({ ...header, alg: "none" }, payload)}.`,
    "none, signed": `${unsigned({ ...header, alg: "none" }, payload)}.${genuine.split(".")[2]}`,
    "HS256 with the public key": await new SignJWT(payload)
      .setProtectedHeader({ alg: "HS256", kid: String(header["kid"]) })
      .sign(new TextEncoder().encode(published)),
    "another key": signed(header, payload, mine.privateKey),
    "a key in the header": signed({ ...header, jwk }, payload, mine.privateKey),
    "a key elsewhere": signed({ ...header, jku: `${publicUrl}/api/auth/jwks` }, payload, mine.privateKey),
    "no key id": signed({ alg: "RS256" }, payload, mine.privateKey),
    "an unknown key id": signed({ ...header, kid: "x' or 1=1" }, payload, mine.privateKey),
    "another payload": `${unsigned(header, { ...payload, sub: "0b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e" })}.${genuine.split(".")[2]}`,
    "cut short": genuine.slice(0, -4),
  };
  const anonymous = await rest.as(null).get("/v1/apps");
  for (const [how, token] of Object.entries(forged)) {
    const answer = await rest.as(token).get("/v1/apps");
    expect([how, answer.status, answer.text]).toEqual([how, 401, anonymous.text]);
    expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer/);
  }
});

verifies(hazard(24), "401 answers a genuine signature under a wrong issuer, audience, type or time", async () => {
  const key = await service().signingKey();
  const { header, payload } = parts(await owner.accessToken());
  const now = Math.floor(Date.now() / 1000);
  const wrong: Record<string, [object, object]> = {
    issuer: [header, { ...payload, iss: "https://elsewhere.example.com" }],
    audience: [header, { ...payload, aud: "https://elsewhere.example.com" }],
    "the gateway's audience": [header, { ...payload, aud: `${publicUrl}/mcp` }],
    "no audience": [header, { ...payload, aud: undefined }],
    expired: [header, { ...payload, exp: now - 60 }],
    "no end": [header, { ...payload, exp: undefined }],
    "not yet": [header, { ...payload, nbf: now + 600 }],
    "from the future": [header, { ...payload, iat: now + 600 }],
    "another type": [{ ...header, typ: "logout+jwt" }, payload],
    "a critical extension": [{ ...header, crit: ["x"], x: 1 }, payload],
    jku: [{ ...header, jku: `${publicUrl}/api/auth/jwks` }, payload],
    x5u: [{ ...header, x5u: "https://elsewhere.example.com/key" }, payload],
    "no session": [header, { ...payload, sid: undefined }],
    "another's session": [header, { ...payload, sid: "0b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e" }],
  };
  expect((await rest.as(signed(header, payload, key)).get("/v1/apps")).status).toBe(200);
  for (const [how, [head, body]] of Object.entries(wrong))
    expect([how, (await rest.as(signed(head, body, key)).get("/v1/apps")).status]).toEqual([how, 401]);
});

verifies(hazard(29), "401 answers an access token as soon as its session ends or its password changes", async () => {
  const { publicUrl: url } = service().service;
  const token = await owner.accessToken();
  expect((await rest.as(token).get("/v1/apps")).status).toBe(200);
  const elsewhere = new TestUser(url, owner.email);
  await elsewhere.signIn();
  const other = await elsewhere.accessToken();
  expect((await rest.as(other).get("/v1/apps")).status).toBe(200);
  const change = { currentPassword: owner.password, newPassword: "another horse battery" };
  expect((await elsewhere.post("/change-password", change)).status).toBe(200);
  expect((await rest.as(token).get("/v1/apps")).status).toBe(401);
  const fresh = await elsewhere.accessToken();
  expect((await rest.as(fresh).get("/v1/apps")).status).toBe(200);
  await elsewhere.post("/sign-out", {});
  expect((await rest.as(fresh).get("/v1/apps")).status).toBe(401);
});
