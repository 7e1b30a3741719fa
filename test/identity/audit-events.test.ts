import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { sharedOrganization } from "../support/identity/organization-members.ts";
import { TestUser } from "../support/identity/test-user.ts";

const { organization } = sharedOrganization();

async function listEvents() {
  const { url, owner, organizationId } = organization();
  await owner.post("/organization/set-active", { organizationId });
  return (await rpcClient(url, await owner.accessToken()).audit.list.query({})).events;
}

async function getUserId(user: TestUser): Promise<string> {
  return ((await user.get("/get-session")).body["user"] as { id: string }).id;
}

test("a user cannot write to the audit log of another organization, and the log records members who join and leave", async () => {
  const { url, organizationId, join } = organization();
  const foreign = new TestUser(url);
  await foreign.signUp({ organizationId });
  await foreign.signIn();
  await foreign.post("/sign-in/email", { email: foreign.email, password: "wrong password", organizationId });
  await foreign.post("/organization/create", { name: "Mine", slug: randomUUID(), organizationId });
  await foreign.post("/organization/check-slug", { slug: randomUUID(), organizationId });
  await foreign.post("/update-user", { name: "Eve", organizationId });
  const formerMember = new TestUser(url);
  await formerMember.signUp();
  await join(formerMember, "member");
  await formerMember.post("/organization/leave", { organizationId });
  const events = await listEvents();
  const foreignId = await getUserId(foreign);
  expect(events.filter(({ user_id: id }) => id === foreignId)).toEqual([]);
  const formerMemberId = await getUserId(formerMember);
  const actions = events.filter(({ user_id: id }) => id === formerMemberId).map(({ action }) => action);
  expect(actions).toEqual(expect.arrayContaining(["organization/accept-invitation", "organization/leave"]));
});

test("the audit event of a sign-out contains the user who signed out", async () => {
  const { url, organizationId, member } = organization();
  const user = new TestUser(url, member.email);
  await user.signIn();
  await user.post("/organization/set-active", { organizationId });
  const id = await getUserId(user);
  await user.post("/sign-out", {});
  const event = expect.objectContaining({ action: "sign-out", outcome: "done", user_id: id });
  expect(await listEvents()).toContainEqual(event);
});
