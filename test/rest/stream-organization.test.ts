import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { followLog } from "../support/clients/log-stream.ts";
import { joinOrganization, signUpOwner } from "../support/identity/organization-members.ts";
import { createOwnedTenant } from "../support/identity/owned-tenant.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness({ config: { signUp: "open" } });

verifies(
  hazard(28),
  "a stream is of the organization in X-Service-Org-Id, if the user is a member of it, and ends with the membership",
  async () => {
    const { publicUrl } = service().service;
    const [home, other, foreign] = [await service().tenant(), await service().tenant(), await service().tenant()];
    const [user, owner] = [await signUpOwner(service(), home), await signUpOwner(service(), other)];
    await user.post("/organization/set-active", { organizationId: home.org_id });
    const token = await user.accessToken();
    await joinOrganization(owner, user, { organizationId: other.org_id, role: "member" });
    const app = await service().givenApp(other, { status: "building" });
    const path = `/v1/apps/${app.id}/logs?follow`;
    const follow = (orgId?: string) =>
      followLog(publicUrl, token, path, orgId === undefined ? {} : { "x-service-org-id": orgId });
    expect((await follow()).status).toBe(404);
    expect((await follow(home.org_id)).status).toBe(404);
    expect([(await follow(foreign.org_id)).status, (await follow(randomUUID())).status]).toEqual([403, 403]);
    const stream = await follow(other.org_id);
    expect(stream.status).toBe(200);
    const events = await followLog(publicUrl, token, "/v1/events?follow", { "x-service-org-id": other.org_id });
    const removal = { organizationId: other.org_id, memberIdOrEmail: user.email };
    expect((await owner.post("/organization/remove-member", removal)).status).toBe(200);
    await Promise.all([stream.ended, events.ended]);
    expect(events.events.map(({ event }) => event)).toEqual(["reset"]);
    expect(stream.events.map(({ event }) => event)).not.toContain("end");
    expect((await follow(other.org_id)).status).toBe(403);
  },
);

test("403 a token without a scope of the service follows no log", async () => {
  const { tenant, oauth, url } = await createOwnedTenant(service());
  const app = await service().givenApp(tenant, { status: "building" });
  const { body } = await oauth.grant(`${url}/v1`, "openid");
  const rest = new RestClient(url, String(body["access_token"]));
  for (const logs of ["logs", "runtime-logs", "deployments/1/logs"]) {
    const response = await rest.get(`/v1/apps/${app.id}/${logs}?follow`);
    expect([logs, response.status, response.headers.get("www-authenticate")]).toEqual([
      logs,
      403,
      'Bearer error="insufficient_scope", scope="read"',
    ]);
  }
});

test("a stream of a token without an organization ends with the membership, although the token is then valid for another one", async () => {
  const { publicUrl } = service().service;
  const [first, second] = [await service().tenant(), await service().tenant()];
  const owners = [await signUpOwner(service(), first), await signUpOwner(service(), second)];
  const user = new TestUser(publicUrl);
  await user.signUp();
  const token = await user.accessToken();
  await joinOrganization(owners[0]!, user, { organizationId: first.org_id, role: "member" });
  const app = await service().givenApp(first, { status: "building" });
  const stream = await followLog(publicUrl, token, `/v1/apps/${app.id}/logs?follow`);
  expect(stream.status).toBe(200);
  await joinOrganization(owners[1]!, user, { organizationId: second.org_id, role: "member" });
  const removal = { organizationId: first.org_id, memberIdOrEmail: user.email };
  expect((await owners[0]!.post("/organization/remove-member", removal)).status).toBe(200);
  await stream.ended;
  expect((await new RestClient(publicUrl, token).get("/v1/apps")).status).toBe(200);
});
