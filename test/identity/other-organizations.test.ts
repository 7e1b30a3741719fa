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
    const read = (path: string, orgId: string) => user.get(`/organization/${path}?organizationId=${orgId}`);
    const post = (path: string, fields: object) => user.post(`/organization/${path}`, fields);
    /** Each with the status for a well-formed id. The identity provider does not let users delete organizations. */
    const requestsFor = (orgId: string): [status: number, send: () => ReturnType<typeof read>][] => [
      [400, () => read("get-full-organization", orgId)],
      [400, () => read("get-organization", orgId)],
      [403, () => read("list-members", orgId)],
      [403, () => read("list-invitations", orgId)],
      [403, () => read("get-active-member-role", orgId)],
      [403, () => post("set-active", { organizationId: orgId })],
      [400, () => post("update", { organizationId: orgId, data: { name: "x" } })],
      [400, () => post("invite-member", { organizationId: orgId, email: randomEmail(), role: "member" })],
      [400, () => post("update-member-role", { organizationId: orgId, memberId, role: "member" })],
      [400, () => post("remove-member", { organizationId: orgId, memberIdOrEmail: memberId })],
      [400, () => post("leave", { organizationId: orgId })],
      [404, () => post("delete", { organizationId: orgId })],
      [401, () => post("has-permission", { organizationId: orgId, permissions: { member: ["create"] } })],
    ];
    const { slug } = (await owner.get(`/organization/get-organization?organizationId=${organizationId}`)).body;
    for (const path of ["get-full-organization", "get-organization"]) {
      const getBySlug = (name: string) => user.get(`/organization/${path}?organizationSlug=${name}`);
      const [foreign, unknown] = [await getBySlug(String(slug)), await getBySlug("absent")];
      expect([foreign.status, foreign.text]).toEqual([unknown.status, unknown.text]);
    }
    const forForeign = requestsFor(organizationId);
    const forUnknown = requestsFor(randomUUID());
    const forMalformed = requestsFor("x'\"\0");
    for (const [at, [status, send]] of forForeign.entries()) {
      const [foreign, unknown, malformed] = [await send(), await forUnknown[at]![1](), await forMalformed[at]![1]()];
      expect([at, foreign.status, foreign.text]).toEqual([at, unknown.status, unknown.text]);
      expect([at, foreign.status, malformed.status]).toEqual([at, status, 400]);
    }
  },
);
