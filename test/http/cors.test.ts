import { expect, test } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();

const METADATA = [
  "/.well-known/oauth-protected-resource",
  "/.well-known/oauth-protected-resource/mcp",
  "/.well-known/oauth-authorization-server",
  "/.well-known/openid-configuration",
];

function send(method: string, path: string, headers: Record<string, string>): Promise<Response> {
  return fetch(`${service().service.publicUrl}${path}`, { method, headers });
}

const PREFLIGHT = {
  origin: "https://elsewhere.example.com",
  "access-control-request-method": "GET",
  "access-control-request-headers": "mcp-protocol-version",
};

test("a page of any origin reads the OAuth metadata, also with headers that require a preflight", async () => {
  for (const path of METADATA) {
    const preflight = await send("OPTIONS", path, PREFLIGHT);
    const allowed = ["origin", "methods", "headers"].map((name) =>
      preflight.headers.get(`access-control-allow-${name}`),
    );
    expect([path, preflight.status, ...allowed]).toEqual([path, 204, "*", "GET", "*"]);
    const document = await send("GET", path, { origin: PREFLIGHT.origin });
    expect([path, document.status, document.headers.get("access-control-allow-origin")]).toEqual([path, 200, "*"]);
  }
  // A client that guesses a path can tell a missing document from a failed connection.
  const missing = await send("GET", "/.well-known/nothing", { origin: PREFLIGHT.origin });
  expect([missing.status, missing.headers.get("access-control-allow-origin")]).toEqual([404, "*"]);
});

test("no other endpoint of the identity provider can be read from another origin", async () => {
  for (const path of ["/api/auth/get-session", "/api/auth/token", "/api/auth/oauth2/authorize"]) {
    const response = await send("GET", path, { origin: PREFLIGHT.origin });
    expect([path, response.headers.get("access-control-allow-origin")]).toEqual([path, null]);
  }
});

test("only the metadata can be read from another origin, also with a valid token", async () => {
  const { api_key: apiKey, personal_access_token: personal } = await service().tenant();
  const paths = ["/v1/apps", "/v1/openapi.json", "/trpc/apps.list", "/mcp", "/healthz", "/docs", "/", "/v1/nothing"];
  for (const path of paths)
    for (const method of ["GET", "POST", "OPTIONS"]) {
      const authorization = `Bearer ${path === "/mcp" ? personal : apiKey}`;
      const { headers } = await send(method, path, { ...PREFLIGHT, authorization });
      expect([method, path, headers.get("access-control-allow-origin")]).toEqual([method, path, null]);
    }
});

test("204 is the response to a preflight of the gateway, which only pages of its own host may use", async () => {
  const { publicUrl } = service().service;
  const headers = "authorization, content-type, mcp-protocol-version, x-service-org-id";
  const preflight = (origin: string) =>
    send("OPTIONS", "/mcp", { ...PREFLIGHT, origin, "access-control-request-headers": headers });
  for (const origin of [publicUrl, "http://localhost:6274"]) {
    const response = await preflight(origin);
    expect([response.status, Object.fromEntries(response.headers)]).toEqual([
      204,
      expect.objectContaining({
        "access-control-allow-origin": origin,
        "access-control-allow-methods": expect.stringContaining("POST"),
        "access-control-allow-headers": headers,
      }),
    ]);
  }
  const withoutHeaders = await send("OPTIONS", "/mcp", { origin: publicUrl, "access-control-request-method": "POST" });
  expect([withoutHeaders.status, withoutHeaders.headers.has("access-control-allow-headers")]).toEqual([204, false]);
  const foreign = await preflight(PREFLIGHT.origin);
  expect([foreign.status, foreign.headers.get("access-control-allow-origin")]).toEqual([204, null]);
});

test("a page on the same machine reads responses of the gateway and the challenge of a 401", async () => {
  const tenant = await service().tenant();
  const origin = "http://localhost:6274";
  const gateway = new GatewayClient(service().service.publicUrl, tenant.personal_access_token);
  for (const [token, status] of [
    [tenant.personal_access_token, 200],
    [null, 401],
  ] as const) {
    const answer = await gateway.as(token).call("tools/list", undefined, { origin });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([status, origin]);
    expect(answer.headers.get("access-control-expose-headers")).toContain("www-authenticate");
    // A cache must not give this response to a page of another origin.
    expect(answer.headers.get("vary")).toBe("origin");
  }
});

test("a response to a client that sends no origin has no CORS headers", async () => {
  const tenant = await service().tenant();
  const { headers } = await new GatewayClient(service().service.publicUrl, tenant.personal_access_token).call("ping");
  expect([...headers.keys()].filter((name) => name.startsWith("access-control-") || name === "vary")).toEqual([]);
});
