import { auth as authV1 } from "@modelcontextprotocol/sdk/client/auth.js";
import { beforeAll, expect, test } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { signInAndListTools } from "../support/clients/sdk-clients.ts";
import { TestOAuthClient } from "../support/identity/test-oauth-client.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness();
let user: TestUser;
let publicUrl: string;

beforeAll(async () => {
  ({ publicUrl } = service().service);
  user = new TestUser(publicUrl);
  await user.signUp();
});

for (const sdkVersion of [1, 2] as const)
  test(`the v${sdkVersion} SDK signs in with only the gateway's URL, and lists the tools`, async () => {
    const client = new TestOAuthClient(user);
    expect(await signInAndListTools(`${publicUrl}/mcp`, client, sdkVersion)).toContain("service_list_apps");
    expect(client.tokenResponses[0]).toMatchObject({ refresh_token: expect.any(String) });
  });

test("a client refreshes its token without a new consent", async () => {
  const client = new TestOAuthClient(user);
  await signInAndListTools(`${publicUrl}/mcp`, client, 1);
  const [first] = client.tokenResponses;
  expect(await authV1(client as never, { serverUrl: `${publicUrl}/mcp` })).toBe("AUTHORIZED");
  const second = client.tokenResponses.at(-1);
  expect(second?.refresh_token).not.toBe(first?.refresh_token);
  const gateway = new GatewayClient(publicUrl, second?.access_token ?? "");
  expect((await gateway.call("tools/list")).status).toBe(200);
});

verifies(
  hazard(30),
  "401 rejects an access token for the gateway at REST, and one for REST at the gateway",
  async () => {
    const client = new TestOAuthClient(user);
    await signInAndListTools(`${publicUrl}/mcp`, client, 2);
    const token = client.tokenResponses.at(-1)?.access_token ?? "";
    expect((await new GatewayClient(publicUrl, token).call("tools/list")).status).toBe(200);
    expect((await new RestClient(publicUrl, token).get("/v1/apps")).status).toBe(401);
    expect((await new GatewayClient(publicUrl, await user.accessToken()).call("tools/list")).status).toBe(401);
  },
);

test("the OAuth metadata names the authorization server, its endpoints and its grant types", async () => {
  const resource = await user.send("GET", "/.well-known/oauth-protected-resource/mcp");
  expect(resource.body).toMatchObject({ resource: `${publicUrl}/mcp`, authorization_servers: [publicUrl] });
  const server = await user.send("GET", "/.well-known/oauth-authorization-server");
  expect(server.body).toMatchObject({
    issuer: publicUrl,
    code_challenge_methods_supported: ["S256"],
    registration_endpoint: `${publicUrl}/api/auth/oauth2/register`,
    device_authorization_endpoint: expect.stringContaining(publicUrl),
    grant_types_supported: expect.arrayContaining(["authorization_code", "refresh_token"]),
  });
});
