import { expect } from "vitest";
import { createHarness } from "../support/service/harness.ts";
import { AUDIENCE, startIdentityProvider } from "../support/identity/identity-provider.ts";
import { Person } from "../support/identity/test-user.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { hazard, verifies } from "../support/verifies.ts";

verifies(
  ["rest.auth.jwt", hazard(24)],
  "an external provider's access tokens are accepted, its rotated key too, and none meant for others",
  async () => {
    await using provider = await startIdentityProvider();
    const oidc = { issuer: provider.issuer, audience: AUDIENCE };
    await using harness = await createHarness({ config: { oidc } });
    const { publicUrl } = harness.service;
    const rest = async (claims?: Record<string, unknown>) => new RestClient(publicUrl, await provider.token(claims));
    const first = await Promise.all(Array.from({ length: 4 }, async () => (await rest()).get("/v1/apps")));
    expect(first.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const app = await (await rest()).deploy({ repo: "acme/site" });
    await provider.rotate();
    // The new key is asked for once the pause after the last question is over.
    await expect.poll(async () => (await (await rest()).get("/v1/apps")).status, { timeout: 10_000 }).toBe(200);
    const again = await (await rest()).get(`/v1/apps/${String(app.body["app_id"])}`);
    expect([again.status, again.body["org_id"]]).toEqual([200, harness.service.bootstrapped?.org_id]);
    const now = Math.floor(Date.now() / 1000);
    const wrong = [
      { aud: "https://other.example.com" },
      { iss: "https://other.example.com" },
      { iat: now + 600, exp: now + 900 },
      { exp: now - 60 },
      { sub: "" },
      { sub: undefined },
    ];
    for (const claims of wrong)
      expect([claims, (await (await rest(claims)).get("/v1/apps")).status]).toEqual([claims, 401]);
    expect(provider.asked.filter((path) => path.includes("well-known"))).toHaveLength(1);
  },
);

verifies(
  "rest.auth.jwt",
  "a person of an external provider is known by issuer and subject, never by an address",
  async () => {
    await using provider = await startIdentityProvider();
    await using harness = await createHarness({ config: { oidc: { issuer: provider.issuer, audience: AUDIENCE } } });
    const { publicUrl } = harness.service;
    const owner = new Person(publicUrl);
    await owner.signUp();
    const mine = await rpcClient(publicUrl, await owner.accessToken()).apps.deploy.mutate({ repo: "acme/site" });
    const claims = { sub: "impostor", email: owner.email, email_verified: true };
    const impostor = new RestClient(publicUrl, await provider.token(claims));
    expect((await impostor.get("/v1/apps")).body).toEqual({ apps: [] });
    expect((await impostor.get(`/v1/apps/${mine.app_id}`)).status).toBe(404);
    const other = new RestClient(publicUrl, await provider.token({ sub: "other", email: owner.email }));
    const { body } = await impostor.deploy({ repo: "acme/site" });
    expect((await other.get(`/v1/apps/${String(body["app_id"])}`)).status).toBe(404);
  },
);
