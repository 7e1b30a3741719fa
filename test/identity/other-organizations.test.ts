import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { randomEmail, sharedOrganization } from "../support/identity/organization-members.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { hazard, verifies } from "../support/verifies.ts";

const { organization } = sharedOrganization();

verifies(
  [hazard(26), hazard(27)],
  "a request for another organization gets the same response as for an unknown one, and 400 for a malformed id",
  async () => {
    const { url, organizationId, owner } = organization();
    const user = new TestUser(url);
    await user.signUp();
    const members = (await owner.get(`/organization/list-members?organizationId=${organizationId}`)).body["members"];
    const [{ id: memberId }] = members as [{ id: string }];
    const reads = [
      "get-full-organization",
      "get-organization",
      "list-members",
      "list-invitations",
      "get-active-member-role",
    ];
    const requestsFor = (orgId: string) => [
      ...reads.map((path) => () => user.get(`/organization/${path}?organizationId=${orgId}`)),
      () => user.post("/organization/set-active", { organizationId: orgId }),
      () => user.post("/organization/update", { organizationId: orgId, data: { name: "x" } }),
      () => user.post("/organization/invite-member", { organizationId: orgId, email: randomEmail(), role: "member" }),
      () => user.post("/organization/update-member-role", { organizationId: orgId, memberId, role: "member" }),
      () => user.post("/organization/remove-member", { organizationId: orgId, memberIdOrEmail: memberId }),
      () => user.post("/organization/leave", { organizationId: orgId }),
      () => user.post("/organization/delete", { organizationId: orgId }),
      () => user.post("/organization/has-permission", { organizationId: orgId, permissions: { member: ["create"] } }),
    ];
    /** Of the requests above. The identity provider does not let users delete organizations. */
    const statuses = [400, 400, 403, 403, 403, 403, 400, 400, 400, 400, 400, 404, 401];
    const { slug } = (await owner.get(`/organization/get-organization?organizationId=${organizationId}`)).body;
    for (const path of ["get-full-organization", "get-organization"]) {
      const getBySlug = (name: string) => user.get(`/organization/${path}?organizationSlug=${name}`);
      const [foreign, unknown] = [await getBySlug(String(slug)), await getBySlug("absent")];
      expect([foreign.status, foreign.text]).toEqual([unknown.status, unknown.text]);
    }
    const forForeign = requestsFor(organizationId);
    const forUnknown = requestsFor(randomUUID());
    const forMalformed = requestsFor("x'\"\0");
    for (const [at, send] of forForeign.entries()) {
      const [foreign, unknown, malformed] = [await send(), await forUnknown[at]!(), await forMalformed[at]!()];
      expect([at, foreign.status, foreign.text]).toEqual([at, unknown.status, unknown.text]);
      expect([at, foreign.status, malformed.status]).toEqual([at, statuses[at], 400]);
    }
  },
);
