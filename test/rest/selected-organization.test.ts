import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { OPERATIONS } from "../../server/rest/operations.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { joinOrganization } from "../support/identity/organization-members.ts";
import { createOwnedTenant } from "../support/identity/owned-tenant.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness({ config: { signUp: "open" } });

const headerOf = (orgId: string) => ({ "x-service-org-id": orgId });

verifies(
  ["gateway.organization.override", hazard(28)],
  "REST acts on the organization in X-Service-Org-Id if the user is a member of it, with the role there",
  async () => {
    const [one, two] = [await createOwnedTenant(service()), await createOwnedTenant(service())];
    await joinOrganization(one.owner, two.owner, { organizationId: one.tenant.org_id, role: "member" });
    const app = await service().givenApp(one.tenant, { name: "elsewhere" });
    const rest = new RestClient(two.url, await two.owner.accessToken());
    const listIds = async (orgId: string) => {
      const { body } = await rest.get("/v1/apps", headerOf(orgId));
      return (body["apps"] as { app_id: string }[]).map(({ app_id }) => app_id);
    };
    expect(JSON.stringify((await rest.get("/v1/apps", headerOf(one.tenant.org_id))).body)).toContain(app.id);
    expect(await listIds(two.tenant.org_id)).toEqual([]);
    expect((await rest.get(`/v1/apps/${app.id}`, headerOf(one.tenant.org_id))).status).toBe(200);
    expect((await rest.get(`/v1/apps/${app.id}`, headerOf(two.tenant.org_id))).status).toBe(404);
    const roles = [one, two].map(
      async ({ tenant }) => (await rest.get("/v1/audit-events", headerOf(tenant.org_id))).status,
    );
    expect(await Promise.all(roles)).toEqual([403, 200]);
  },
);

verifies(
  hazard(28),
  "403 for every operation of REST with X-Service-Org-Id of another organization, with the same body as for an unknown one",
  async () => {
    const { tenant, owner, url } = await createOwnedTenant(service());
    const other = await service().tenant();
    const values = [other.org_id, randomUUID(), "", "*", "null", `${tenant.org_id},${other.org_id}`];
    for (const token of [tenant.api_key, await owner.accessToken()]) {
      const rest = new RestClient(url, token);
      expect((await rest.get("/v1/apps", headerOf(tenant.org_id))).status).toBe(200);
      const expected = (await rest.get("/v1/apps", headerOf(randomUUID()))).text;
      for (const value of values) {
        const { status, text, headers } = await rest.get("/v1/apps", headerOf(value));
        expect([value, status, text]).toEqual([value, 403, expected]);
        expect(headers.get("www-authenticate")).toBeNull();
      }
      for (const { method, path } of OPERATIONS) {
        const target = path.replaceAll(/\{(\w+)\}/g, (_, name) => (name === "number" ? "1" : randomUUID()));
        const { status, text } = await rest.send(method, target, { headers: headerOf(other.org_id) });
        expect([method, path, status, text]).toEqual([method, path, 403, expected]);
      }
    }
  },
);
