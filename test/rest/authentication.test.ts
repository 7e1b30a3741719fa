import { expect } from "vitest";
import { formatToken } from "../../domain/tokens/token-format.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness();
const ENDPOINTS = [
  ["POST", "/v1/apps/deploy"],
  ["GET", "/v1/apps"],
  ["GET", "/v1/apps/0b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e"],
  ["DELETE", "/v1/apps/0b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e"],
  ["GET", "/v1/apps/0b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e/logs"],
] as const;

verifies(
  ["rest.auth.required", "rest.auth.401.missing", "rest.error.401", hazard(23)],
  "401 every endpoint rejects a request without a token before it reads the body",
  async () => {
    const anonymous = (await service().tenant()).rest.as(null);
    for (const [method, path] of ENDPOINTS) {
      const body = method === "POST" ? { body: "{broken", headers: { "content-type": "application/json" } } : {};
      const response = await anonymous.send(method, path, body);
      expect([path, response.status, response.body]).toEqual([path, 401, { error: expect.stringContaining("Bearer") }]);
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
    }
  },
);

verifies("rest.auth.401.invalid", "401 every token that is not a valid API key gets the same response", async () => {
  const tenant = await service().tenant();
  const typo = tenant.api_key.slice(0, -1) + (tenant.api_key.endsWith("a") ? "b" : "a");
  const unknown = formatToken("svk", Buffer.alloc(32, 7));
  const { body } = await tenant.rest.deploy({ repo: "acme/site" });
  const tokens = [
    "x",
    typo,
    unknown,
    tenant.personal_access_token,
    String(body["app_token"]),
    `${tenant.api_key} `,
    "a".repeat(9000),
  ];
  for (const token of tokens) {
    const response = await tenant.rest.as(token.trim() === token ? token : `${token}x y`).get("/v1/apps");
    expect([response.status, response.text]).toEqual([401, (await tenant.rest.as(null).get("/v1/apps")).text]);
  }
});

verifies(
  ["rest.auth.401.invalid", hazard(23), hazard(31)],
  "401 a token with another scheme or in the query string is rejected",
  async () => {
    const tenant = await service().tenant();
    const anonymous = tenant.rest.as(null);
    const basic = await anonymous.get("/v1/apps", {
      authorization: `Basic ${Buffer.from(`x:${tenant.api_key}`).toString("base64")}`,
    });
    const query = await anonymous.get(`/v1/apps?token=${tenant.api_key}&access_token=${tenant.api_key}`);
    expect([basic.status, query.status]).toEqual([401, 401]);
    expect(service().logged()).not.toContain(tenant.api_key);
  },
);

verifies("rest.auth.api_key", "200 an API key is accepted, and the scheme is case-insensitive", async () => {
  const tenant = await service().tenant();
  const response = await tenant.rest.as(null).get("/v1/apps", { authorization: `bearer ${tenant.api_key}` });
  expect(response.status).toBe(200);
});

verifies("rest.auth.401.invalid", "401 an expired or revoked API key is rejected", async () => {
  const tenant = await service().tenant();
  const other = await service().tenant();
  const em = service().service.parts.orm.em.fork();
  await em.execute("update machine_tokens set expires_at = now() - interval '1 second' where org_id = ?", [
    tenant.org_id,
  ]);
  await em.execute("update machine_tokens set revoked_at = now() where org_id = ?", [other.org_id]);
  expect([(await tenant.rest.get("/v1/apps")).status, (await other.rest.get("/v1/apps")).status]).toEqual([401, 401]);
});
