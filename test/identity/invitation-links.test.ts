import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { randomEmail, sharedOrganization } from "../support/identity/organization-members.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";

const { service, organization } = sharedOrganization();

/** Returns the link of an invitation as a user sees it; `undefined` when the user does not see the invitation. */
async function readLink(user: TestUser, invitationId: string): Promise<string | null | undefined> {
  const { text } = await user.get(`/organization/list-invitations?organizationId=${organization().organizationId}`);
  const invitations = JSON.parse(text) as { id: string; link: string | null }[];
  return invitations.find(({ id }) => id === invitationId)?.link;
}

async function createInvitation(role = "member", email = randomEmail()): Promise<string> {
  const { owner, invite } = organization();
  return String((await invite(owner, email, role)).body["id"]);
}

async function signUp(): Promise<TestUser> {
  const user = new TestUser(organization().url);
  await user.signUp();
  return user;
}

test("owners and admins can read the link of an invitation to a role that they may assign, members cannot", async () => {
  const { url, owner, admin, member } = organization();
  const forMember = await createInvitation("member");
  const forOwner = await createInvitation("owner");
  const link = (id: string) => `${url}/invitations/${id}`;
  expect([await readLink(owner, forMember), await readLink(owner, forOwner)]).toEqual([
    link(forMember),
    link(forOwner),
  ]);
  expect([await readLink(admin, forMember), await readLink(admin, forOwner)]).toEqual([link(forMember), undefined]);
  expect([await readLink(member, forMember), await readLink(member, forOwner)]).toEqual([undefined, undefined]);
});

test("the admin of another organization cannot read the link of an invitation", async () => {
  const { organizationId } = organization();
  const id = await createInvitation();
  const foreign = await signUp();
  await foreign.post("/organization/create", { name: "Other", slug: randomUUID() });
  for (const [path, expected] of [
    ["list-invitations", 403],
    ["get-full-organization", 400],
    ["get-organization", 400],
  ] as const) {
    const { status, text } = await foreign.get(`/organization/${path}?organizationId=${organizationId}`);
    expect([path, status, text.includes(id)]).toEqual([path, expected, false]);
  }
});

test("an invitation has no link once it is accepted, declined, canceled or expired", async () => {
  const { owner } = organization();
  const [accepting, declining] = [await signUp(), await signUp()];
  const [accepted, declined] = [
    await createInvitation("member", accepting.email),
    await createInvitation("member", declining.email),
  ];
  const [canceled, expired] = [await createInvitation(), await createInvitation()];
  const readLinks = () => Promise.all([accepted, declined, canceled, expired].map((id) => readLink(owner, id)));
  expect(await readLinks()).toEqual(Array.from({ length: 4 }, () => expect.stringContaining("/invitations/")));
  await accepting.post("/organization/accept-invitation", { invitationId: accepted });
  await declining.post("/organization/reject-invitation", { invitationId: declined });
  await owner.post("/organization/cancel-invitation", { invitationId: canceled });
  const em = service().service.parts.orm.em.fork();
  await em.execute(`update auth.invitation set "expiresAt" = now() - interval '1 second' where id = ?`, [expired]);
  expect(await readLinks()).toEqual([null, null, null, null]);
});

test("neither the log nor the audit log contains the link of a pending invitation", async () => {
  const { url, owner, organizationId } = organization();
  const id = await createInvitation();
  expect(await readLink(owner, id)).toContain(id);
  await owner.post("/organization/set-active", { organizationId });
  const { events } = await rpcClient(url, await owner.accessToken()).audit.list.query({});
  expect(events.map(({ action }) => action)).toContain("organization/invite-member");
  expect([JSON.stringify(events).includes(id), service().logged().includes(id)]).toEqual([false, false]);
});
