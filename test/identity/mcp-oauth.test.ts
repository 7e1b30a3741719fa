import { auth as auth1 } from "@modelcontextprotocol/sdk/client/auth.js";
import { beforeAll, expect, test } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { TestOAuthClient } from "../support/identity/test-oauth-client.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { toolsThrough } from "../support/clients/sdk-clients.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness();
let person: TestUser;
let publicUrl: string;

beforeAll(async () => {
  ({ publicUrl } = service().service);
  person = new TestUser(publicUrl);
  await person.signUp();
});

for (const generation of [1, 2] as const)
  test(`the v${generation} SDK's client signs in with nothing but the gateway's URL, and lists the tools`, async () => {
    const signingIn = new TestOAuthClient(person);
    expect(await toolsThrough(`${publicUrl}/mcp`, signingIn, generation)).toContain("service_list_apps");
    expect(signingIn.tokenResponses[0]).toMatchObject({ refresh_token: expect.any(String) });
  });

test("a client refreshes its access without asking the person again", async () => {
  const signingIn = new TestOAuthClient(person);
  await toolsThrough(`${publicUrl}/mcp`, signingIn, 1);
  const [first] = signingIn.tokenResponses;
  expect(await auth1(signingIn as never, { serverUrl: `${publicUrl}/mcp` })).toBe("AUTHORIZED");
  const second = signingIn.tokenResponses.at(-1);
  expect(second?.refresh_token).not.toBe(first?.refresh_token);
  const gateway = new GatewayClient(publicUrl, second?.access_token ?? "");
  expect((await gateway.call("tools/list")).status).toBe(200);
});

verifies(hazard(30), "401 answers a token for one resource at the other", async () => {
  const signingIn = new TestOAuthClient(person);
  await toolsThrough(`${publicUrl}/mcp`, signingIn, 2);
  const token = signingIn.tokenResponses.at(-1)?.access_token ?? "";
  expect((await new GatewayClient(publicUrl, token).call("tools/list")).status).toBe(200);
  expect((await new RestClient(publicUrl, token).get("/v1/apps")).status).toBe(401);
  expect((await new GatewayClient(publicUrl, await person.accessToken()).call("tools/list")).status).toBe(401);
});

test("what clients look for says where to sign in and how", async () => {
  const resource = await person.send("GET", "/.well-known/oauth-protected-resource/mcp");
  expect(resource.body).toMatchObject({ resource: `${publicUrl}/mcp`, authorization_servers: [publicUrl] });
  const server = await person.send("GET", "/.well-known/oauth-authorization-server");
  expect(server.body).toMatchObject({
    issuer: publicUrl,
    code_challenge_methods_supported: ["S256"],
    registration_endpoint: `${publicUrl}/api/auth/oauth2/register`,
    device_authorization_endpoint: expect.stringContaining(publicUrl),
    grant_types_supported: expect.arrayContaining(["authorization_code", "refresh_token"]),
  });
});
