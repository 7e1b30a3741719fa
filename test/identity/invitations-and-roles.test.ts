import { expect, test } from "vitest";
import type { HttpResponse } from "../support/clients/rest-client.ts";
import { randomEmail, sharedOrganization } from "../support/identity/organization-members.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { hazard, verifies } from "../support/verifies.ts";

const { service, organization } = sharedOrganization();

interface Member {
  id: string;
  role: string;
  user: { email: string };
}

async function listMembers(): Promise<Member[]> {
  const { owner, organizationId } = organization();
  const { body } = await owner.get(`/organization/list-members?organizationId=${organizationId}`);
  return body["members"] as Member[];
}

verifies(hazard(29), "an admin cannot make anyone an owner, however the role is written", async () => {
  const { admin, owner, member, organizationId, invite } = organization();
  const spellings = [
    "owner",
    " owner",
    "owner ",
    "member, owner",
    "admin,owner",
    ["owner"],
    [" owner"],
    ["member", "owner"],
  ];
  const isRejected = expect.toSatisfy((status) => status === 400 || status === 403);
  for (const role of [...spellings, "", [], null, "Owner", "root"])
    expect([role, (await invite(admin, randomEmail(), role)).status]).toEqual([role, isRejected]);
  const members = await listMembers();
  const findMemberId = ({ email }: TestUser) => members.find(({ user }) => user.email === email)!.id;
  for (const role of spellings)
    for (const memberId of [findMemberId(admin), findMemberId(member)]) {
      const response = await admin.post("/organization/update-member-role", { memberId, role, organizationId });
      expect([role, response.status]).toEqual([role, isRejected]);
    }
  for (const role of ["member", "admin"]) {
    const change = { memberId: findMemberId(owner), role, organizationId };
    expect((await admin.post("/organization/update-member-role", change)).status).toBe(403);
  }
  const removal = await admin.post("/organization/remove-member", { memberIdOrEmail: owner.email, organizationId });
  expect(removal.status).toBe(400);
  expect(members.map(({ role }) => role).toSorted()).toEqual(["admin", "member", "owner"]);
});

verifies(hazard(29), "a member cannot read the id of an invitation to a higher role than they may assign", async () => {
  const { owner, admin, member, organizationId, invite } = organization();
  const invitedEmail = randomEmail();
  const ownerInvitation = String((await invite(owner, invitedEmail, "owner")).body["id"]);
  const memberInvitation = String((await invite(owner, randomEmail(), "member")).body["id"]);
  for (const path of ["list-invitations", "get-full-organization"])
    for (const [user, visible] of [
      [owner, [true, true]],
      [admin, [false, true]],
      [member, [false, false]],
    ] as const) {
      const { status, text } = await user.get(`/organization/${path}?organizationId=${organizationId}`);
      const found = [ownerInvitation, memberInvitation].map((id) => text.includes(id));
      expect([path, status, ...found]).toEqual([path, 200, ...visible]);
    }
  for (const resend of [true, false]) {
    const response = await invite(admin, invitedEmail, "member", { resend });
    expect([response.status, response.text.includes(ownerInvitation)]).toEqual([400, false]);
  }
  const accepted = await admin.post("/organization/accept-invitation", { invitationId: ownerInvitation });
  expect(accepted.status).toBe(403);
});

verifies(
  hazard(29),
  "pending invitations become invalid when their inviter is removed or may no longer assign the role",
  async () => {
    const { url, owner, organizationId, invite, join } = organization();
    const createUser = async () => {
      const user = new TestUser(url);
      await user.signUp();
      return user;
    };
    const accept = async (user: TestUser, { body }: HttpResponse) =>
      (await user.post("/organization/accept-invitation", { invitationId: body["id"] as string })).status;
    const [removedAdmin, demotedOwner] = [await createUser(), await createUser()];
    const invited = [await createUser(), await createUser(), await createUser(), await createUser()] as const;
    await join(removedAdmin, "admin");
    await join(demotedOwner, "owner");
    const invitations = [
      await invite(removedAdmin, invited[0].email, "admin"),
      await invite(demotedOwner, invited[1].email, "owner"),
      await invite(demotedOwner, invited[2].email, "admin"),
      await invite(owner, invited[3].email, "member"),
    ] as const;
    await owner.post("/organization/remove-member", { memberIdOrEmail: removedAdmin.email, organizationId });
    const memberId = (await listMembers()).find(({ user }) => user.email === demotedOwner.email)!.id;
    await owner.post("/organization/update-member-role", { memberId, role: "admin", organizationId });
    const statuses = [];
    for (const at of [0, 1, 2, 3] as const) statuses.push(await accept(invited[at], invitations[at]));
    expect(statuses).toEqual([400, 400, 200, 200]);
  },
);

test("the log does not contain the id of an invitation", async () => {
  const { url, owner, invite } = organization();
  const { body } = await invite(owner, randomEmail(), "member");
  const id = String(body["id"]);
  await fetch(`${url}/invitations/${id}`);
  await owner.get(`/organization/get-invitation?id=${id}`);
  expect(service().logged()).toContain("/invitations/…");
  expect(service().logged()).not.toContain(id);
});
