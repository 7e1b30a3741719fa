import { createHash } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { createOwnedTenant, type OwnedTenant } from "../support/identity/owned-tenant.ts";
import { givenConsent } from "../support/identity/given-user.ts";
import { joinOrganization } from "../support/identity/organization-members.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness({ config: { signUp: "open" } });
let first: OwnedTenant;
let second: OwnedTenant;
let mcp: string;

beforeAll(async () => {
  first = await createOwnedTenant(service());
  second = await createOwnedTenant(service());
  mcp = `${first.url}/mcp`;
  await join(second);
  await service().givenApp(first.tenant, { name: "first" });
  await service().givenApp(second.tenant, { name: "second" });
});

/** Makes the first owner a member of another organization. */
function join({ owner, tenant }: OwnedTenant): Promise<void> {
  return joinOrganization(owner, first.owner, { organizationId: tenant.org_id, role: "member" });
}

/** The first owner allows a new client to act in an organization. Returns the response to the token request. */
async function grant(organizationId?: string, resource = mcp) {
  const clientId = await first.oauth.register();
  const decision = organizationId === undefined ? {} : { organizationId };
  const { body } = await first.oauth.grantTo(clientId, { resource, scope: "read offline_access" }, {}, decision);
  return { clientId, token: String(body["access_token"]), refreshToken: String(body["refresh_token"]) };
}

/** The names of the apps that a token lists; the status of a rejected call. */
async function listApps(token: string, headers: Record<string, string> = {}): Promise<string[] | number> {
  const call = { name: "service_list_apps", arguments: {} };
  const { status, body } = await new GatewayClient(first.url, token).call("tools/call", call, headers);
  if (status !== 200) return status;
  const { apps } = (body.result as { structuredContent: { apps: { name: string }[] } }).structuredContent;
  return apps.map(({ name }) => name);
}

verifies(
  hazard(28),
  "a client acts only in the organization that the user chose for it, also after a refresh",
  async () => {
    const toFirst = { "x-service-org-id": first.tenant.org_id };
    const { clientId, token, refreshToken } = await grant(second.tenant.org_id);
    const form = { grant_type: "refresh_token", client_id: clientId, refresh_token: refreshToken };
    const refreshed = String((await first.oauth.requestToken(form)).body["access_token"]);
    for (const each of [token, refreshed]) {
      expect(await listApps(each)).toEqual(["second"]);
      expect(await listApps(each, toFirst)).toBe(403);
      expect(await listApps(each, { "x-service-org-id": second.tenant.org_id })).toEqual(["second"]);
    }
    const rest = await grant(second.tenant.org_id, `${first.url}/v1`);
    const restClient = new RestClient(first.url, rest.token);
    const { body } = await restClient.get("/v1/apps");
    expect((body["apps"] as { name: string }[]).map(({ name }) => name)).toEqual(["second"]);
    expect((await restClient.get("/v1/apps", toFirst)).status).toBe(403);
  },
);

test("a client that may act in all organizations of the user acts in the first one, unless a call names another", async () => {
  const { token } = await grant();
  expect(await listApps(token)).toEqual(["first"]);
  expect(await listApps(token, { "x-service-org-id": second.tenant.org_id })).toEqual(["second"]);
});

test("400 rejects consent for an organization of which the user is not a member", async () => {
  const foreign = await service().tenant();
  for (const organizationId of [foreign.org_id, "6f9619ff-8b86-4011-b42d-00c04fc964ff", "every", "", 7])
    await expect(grant(organizationId as string)).rejects.toThrow(/organizationId: must be the id of an organization/);
});

/** Follows an authorization request of a client without a decision. Returns the page, or the parameters for the client. */
async function authorize(clientId: string, query: Record<string, string> = {}): Promise<URL> {
  const challenge = createHash("sha256").update("v".repeat(43)).digest("base64url");
  const pkce = { code_challenge: challenge, code_challenge_method: "S256" };
  const url = first.oauth.authorizeUrl(clientId, { resource: mcp, scope: "read", ...pkce, ...query });
  const response = await first.owner.send("GET", url.pathname + url.search);
  return new URL(response.headers.get("location") ?? String(response.body["url"]), first.url);
}

test("a later authorization keeps the organization, until the user is no longer a member of it", async () => {
  const third = await createOwnedTenant(service());
  await service().givenApp(third.tenant, { name: "third" });
  await join(third);
  const { clientId, token } = await grant(third.tenant.org_id);
  const { searchParams } = await authorize(clientId);
  const granted = await first.oauth.requestToken({
    grant_type: "authorization_code",
    client_id: clientId,
    code: String(searchParams.get("code")),
    code_verifier: "v".repeat(43),
    redirect_uri: String(first.oauth.authorizeUrl("", {}).searchParams.get("redirect_uri")),
  });
  const later = String(granted.body["access_token"]);
  expect([await listApps(token), await listApps(later)]).toEqual([["third"], ["third"]]);
  const member = { memberIdOrEmail: first.owner.email, organizationId: third.tenant.org_id };
  expect((await third.owner.post("/organization/remove-member", member)).status).toBe(200);
  expect([await listApps(token), await listApps(later)]).toEqual([401, 401]);
  expect((await authorize(clientId)).pathname).toBe("/consent");
});

test("the last decision for a client counts", async () => {
  const { clientId } = await grant(second.tenant.org_id);
  const query = { resource: mcp, scope: "read", prompt: "consent" };
  await first.oauth.grantTo(clientId, query, {}, { organizationId: first.tenant.org_id });
  const rows = await service()
    .service.parts.orm.em.fork()
    .execute<{ referenceId: string }[]>(`select "referenceId" from auth."oauthConsent" where "clientId" = ?`, [
      clientId,
    ]);
  expect(rows).toEqual([{ referenceId: first.tenant.org_id }]);
});

test("a user who declines keeps an earlier consent, whatever organization the page names", async () => {
  const clientId = await first.oauth.register();
  const em = service().service.parts.orm.em.fork();
  const userId = ((await first.owner.get("/get-session")).body["user"] as { id: string }).id;
  await givenConsent(em, userId, clientId, null);
  const { search } = await authorize(clientId, { prompt: "consent" });
  const decision = { accept: false, oauth_query: search.slice(1), organizationId: "every" };
  const { status, body } = await first.owner.post("/oauth2/consent", decision);
  expect([status, body["url"]]).toEqual([200, expect.stringContaining("error=access_denied")]);
  const consents = `select "userId", "referenceId" from auth."oauthConsent" where "clientId" = ?`;
  expect(await em.execute(consents, [clientId])).toEqual([{ userId, referenceId: null }]);
});
