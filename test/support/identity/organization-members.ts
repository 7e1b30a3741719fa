import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { Answer } from "../clients/rest-client.ts";
import { TestUser } from "./test-user.ts";

/** An organization with one member of each role. */
export interface OrganizationMembers {
  url: string;
  organizationId: string;
  owner: TestUser;
  admin: TestUser;
  member: TestUser;
  invite(inviter: TestUser, email: string, role: unknown, extraFields?: object): Promise<Answer>;
  /** Invites a user as the owner and accepts the invitation. */
  join(user: TestUser, role: string): Promise<void>;
}

/** Creates users and an organization. `SIGN_UP` must be `open`. */
export async function createOrganizationMembers(url: string): Promise<OrganizationMembers> {
  const [owner, admin, member, first] = [new TestUser(url), new TestUser(url), new TestUser(url), new TestUser(url)];
  // The first user claims the organization of the first start. These tests use another organization.
  for (const user of [first, owner, admin, member]) await user.signUp();
  const { body } = await owner.post("/organization/create", { name: "Acme", slug: randomUUID() });
  const organizationId = String(body["id"]);
  const invite = (inviter: TestUser, email: string, role: unknown, extraFields: object = {}) =>
    inviter.post("/organization/invite-member", { email, role, organizationId, ...extraFields });
  const join = async (user: TestUser, role: string): Promise<void> => {
    const invitation = await invite(owner, user.email, role);
    const invitationId = String(invitation.body["id"]);
    expect((await user.post("/organization/accept-invitation", { invitationId })).status).toBe(200);
  };
  await join(admin, "admin");
  await join(member, "member");
  return { url, organizationId, owner, admin, member, invite, join };
}

/** Returns an email address that no other test uses. */
export function randomEmail(): string {
  return `${randomUUID()}@example.com`;
}
