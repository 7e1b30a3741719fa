import { randomUUID } from "node:crypto";
import { beforeAll, expect } from "vitest";
import type { Config } from "../../../server/config.ts";
import type { HttpResponse } from "../clients/rest-client.ts";
import type { Harness, HarnessOptions, Tenant } from "../service/harness.ts";
import { sharedHarness } from "../service/shared-harness.ts";
import { TestUser } from "./test-user.ts";

/** An organization with one member of each role. */
export interface OrganizationMembers {
  url: string;
  organizationId: string;
  owner: TestUser;
  admin: TestUser;
  member: TestUser;
  invite(inviter: TestUser, email: string, role: unknown, extraFields?: object): Promise<HttpResponse>;
  /** Invites a user as the owner and accepts the invitation. */
  join(user: TestUser, role: string): Promise<void>;
}

/** Starts one service with open sign-up, and creates one organization with members, for all tests of a file. */
export function sharedOrganization(
  config: Partial<Config> = {},
  options: Pick<HarnessOptions, "worker"> = {},
): {
  service: () => Harness;
  organization: () => OrganizationMembers;
} {
  const service = sharedHarness({ ...options, config: { signUp: "open", ...config } });
  let organization: OrganizationMembers | undefined;
  beforeAll(async () => {
    organization = await createOrganizationMembers(service().service.publicUrl);
  });
  return {
    service,
    organization() {
      if (organization === undefined) throw new Error("the organization of this file has not been created");
      return organization;
    },
  };
}

async function createOrganizationMembers(url: string): Promise<OrganizationMembers> {
  const [owner, admin, member, first] = [new TestUser(url), new TestUser(url), new TestUser(url), new TestUser(url)];
  // The first user claims the organization of the first start. These tests use another organization.
  for (const user of [first, owner, admin, member]) await user.signUp();
  const { body } = await owner.post("/organization/create", { name: "Acme", slug: randomUUID() });
  const organizationId = String(body["id"]);
  const invite = (inviter: TestUser, email: string, role: unknown, extraFields: object = {}) =>
    inviter.post("/organization/invite-member", { email, role, organizationId, ...extraFields });
  const join = (user: TestUser, role: string) => joinOrganization(owner, user, { organizationId, role });
  await join(admin, "admin");
  await join(member, "member");
  return { url, organizationId, owner, admin, member, invite, join };
}

/** Invites a user as the owner of the organization, and accepts the invitation. */
export async function joinOrganization(
  owner: TestUser,
  user: TestUser,
  { organizationId, role }: { organizationId: string; role: string },
): Promise<void> {
  const invitation = { email: user.email, role, organizationId };
  const { body } = await owner.post("/organization/invite-member", invitation);
  await acceptInvitation(user, String(body["id"]));
}

/** Signs up a user who owns the organization of a tenant, by an invitation of the operator. */
export async function signUpOwner(harness: Harness, tenant: Tenant): Promise<TestUser> {
  const owner = new TestUser(harness.service.publicUrl);
  const invitationId = await harness.inviteOwner(tenant, owner.email);
  await owner.signUp({ invitationId });
  await acceptInvitation(owner, invitationId);
  return owner;
}

async function acceptInvitation(user: TestUser, invitationId: string): Promise<void> {
  expect((await user.post("/organization/accept-invitation", { invitationId })).status).toBe(200);
}

/** Returns an email address that no other test uses. */
export function randomEmail(): string {
  return `${randomUUID()}@example.com`;
}
