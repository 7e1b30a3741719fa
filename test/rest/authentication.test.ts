import { once } from "node:events";
import { connect } from "node:net";
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

/** The status of the response to a request whose headers announce a body that is never sent. */
async function statusBeforeBody(method: string, path: string): Promise<string | undefined> {
  const { port } = new URL(service().service.publicUrl);
  const socket = connect(Number(port), "127.0.0.1").setEncoding("latin1");
  socket.write(
    `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n`,
  );
  const [response] = (await once(socket, "data")) as [string];
  socket.destroy();
  return response.split("\r\n")[0];
}

verifies(
  ["rest.auth.required", "rest.auth.401.missing", "rest.error.401", hazard(23)],
  "401 every endpoint rejects a request without a token before it reads the body",
  async () => {
    const anonymous = (await service().tenant()).rest.as(null);
    for (const [method, path] of ENDPOINTS) {
      expect([method, path, await statusBeforeBody(method, path)]).toEqual([method, path, "HTTP/1.1 401 Unauthorized"]);
      const body = method === "POST" ? { body: "{broken", headers: { "content-type": "application/json" } } : {};
      const response = await anonymous.send(method, path, body);
      expect([path, response.status, response.body]).toEqual([path, 401, { error: expect.stringContaining("Bearer") }]);
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
    }
  },
);

verifies(
  ["rest.auth.401.missing", hazard(23)],
  "401 a request without a token is rejected whatever its body is: too large, or of another type",
  async () => {
    const anonymous = (await service().tenant()).rest.as(null);
    const bodies = [
      { body: `"${"x".repeat(3_000_000)}"`, headers: { "content-type": "application/json" } },
      { body: "<deploy/>", headers: { "content-type": "application/xml" } },
      { body: "repo=acme/site", headers: { "content-type": "application/x-www-form-urlencoded" } },
    ];
    for (const body of bodies) {
      const answer = await anonymous.send("POST", "/v1/apps/deploy", body);
      expect([body.headers["content-type"], answer.status]).toEqual([body.headers["content-type"], 401]);
    }
  },
);

verifies("rest.auth.401.invalid", "401 every token that is not a valid API key gets the same response", async () => {
  const tenant = await service().tenant();
  const typo = tenant.api_key.slice(0, -1) + (tenant.api_key.endsWith("a") ? "b" : "a");
  const unknown = formatToken("svk", Buffer.alloc(32, 7));
  const { body } = await tenant.rest.deploy({ repo: "acme/site" });
  const tokens = ["x", typo, unknown, `${tenant.api_key} `, "a".repeat(9000)];
  for (const token of tokens) {
    const response = await tenant.rest.as(token.trim() === token ? token : `${token}x y`).get("/v1/apps");
    expect([response.status, response.text]).toEqual([401, (await tenant.rest.as(null).get("/v1/apps")).text]);
  }
  // The response to a token of another kind depends on its prefix only.
  for (const [prefix, known] of [
    ["svp", tenant.personal_access_token],
    ["sva", String(body["app_token"])],
  ] as const) {
    const ofKnown = await tenant.rest.as(known).get("/v1/apps");
    const ofUnknown = await tenant.rest.as(formatToken(prefix, Buffer.alloc(32, 7))).get("/v1/apps");
    expect([ofKnown.status, ofKnown.text]).toEqual([401, ofUnknown.text]);
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
