import { expect } from "vitest";
import { RestClient } from "../support/clients/rest-client.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { AUDIENCE, startIdentityProvider } from "../support/identity/identity-provider.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { createHarness } from "../support/service/harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

verifies(
  ["rest.auth.jwt", hazard(24)],
  "REST accepts an external provider's access tokens, also with a rotated key, and rejects those for other audiences",
  async () => {
    await using provider = await startIdentityProvider();
    const oidc = { issuer: provider.issuer, audience: AUDIENCE };
    await using harness = await createHarness({ config: { oidc } });
    const { publicUrl } = harness.service;
    const createRest = async (claims?: Record<string, unknown>) =>
      new RestClient(publicUrl, await provider.issueToken(claims));
    const first = await Promise.all(Array.from({ length: 4 }, async () => (await createRest()).get("/v1/apps")));
    expect(first.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const app = await (await createRest()).deploy({ repo: "acme/site" });
    await provider.rotateKey();
    // The service fetches the keys again at most once per second.
    await expect.poll(async () => (await (await createRest()).get("/v1/apps")).status).toBe(200);
    const detail = await (await createRest()).get(`/v1/apps/${String(app.body["app_id"])}`);
    expect([detail.status, detail.body["org_id"]]).toEqual([200, harness.service.bootstrapped?.org_id]);
    const now = Math.floor(Date.now() / 1000);
    const invalid = [
      { aud: "https://other.example.com" },
      { iss: "https://other.example.com" },
      { iat: now + 600, exp: now + 900 },
      { exp: now - 60 },
      { sub: "" },
      { sub: undefined },
    ];
    for (const claims of invalid)
      expect([claims, (await (await createRest(claims)).get("/v1/apps")).status]).toEqual([claims, 401]);
    expect(provider.requestedPaths.filter((path) => path.includes("well-known"))).toHaveLength(1);
  },
);

verifies(
  "rest.auth.jwt",
  "an external user is identified by issuer and subject, and an email address in the token gives no access",
  async () => {
    await using provider = await startIdentityProvider();
    await using harness = await createHarness({ config: { oidc: { issuer: provider.issuer, audience: AUDIENCE } } });
    const { publicUrl } = harness.service;
    const owner = new TestUser(publicUrl);
    await owner.signUp();
    const app = await rpcClient(publicUrl, await owner.accessToken()).apps.deploy.mutate({ repo: "acme/site" });
    const claims = { sub: "impostor", email: owner.email, email_verified: true };
    const impostor = new RestClient(publicUrl, await provider.issueToken(claims));
    expect((await impostor.get("/v1/apps")).body).toEqual({ apps: [] });
    expect((await impostor.get(`/v1/apps/${app.app_id}`)).status).toBe(404);
    const other = new RestClient(publicUrl, await provider.issueToken({ sub: "other", email: owner.email }));
    const { body } = await impostor.deploy({ repo: "acme/site" });
    expect((await other.get(`/v1/apps/${String(body["app_id"])}`)).status).toBe(404);
  },
);
