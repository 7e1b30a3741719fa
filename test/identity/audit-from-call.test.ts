import { randomUUID } from "node:crypto";
import { APIError } from "better-auth/api";
import { beforeAll, expect, test } from "vitest";
import { queryBuilderOf } from "../../domain/database-types.ts";
import { createOrganization } from "../../domain/organizations/create-organization.ts";
import { auditEventFromCall } from "../../server/identity/audit-from-call.ts";
import type { AuthSession } from "../../server/identity/auth-call.ts";
import { sharedDatabase } from "../support/database/shared-database.ts";
import { givenMember, givenUser } from "../support/identity/given-user.ts";

const orm = sharedDatabase();
const em = () => orm().em.fork();
const EMAIL = "ada@example.com";
let userId: string;
/** The organizations of the user: the active one of the session, and another one. */
let active: string;
let second: string;
let foreign: string;

async function givenOrganization(): Promise<string> {
  const settings = { name: "Acme", email: "owner@example.com", plan: "free" };
  return (await em().transactional((tx) => createOrganization(tx, settings))).org_id;
}

beforeAll(async () => {
  userId = await givenUser(em(), EMAIL);
  [active, second, foreign] = [await givenOrganization(), await givenOrganization(), await givenOrganization()];
  for (const orgId of [active, second]) await givenMember(em(), { orgId, userId, role: "member" });
});

function sessionIn(activeOrganizationId: string | null): AuthSession {
  return { user: { id: userId, email: EMAIL }, session: { id: "a session", activeOrganizationId } };
}

interface Call {
  body?: unknown;
  returned?: unknown;
  newSession?: AuthSession;
}

/** Creates the event of a call below `/api/auth`. Without a session, the user is not signed in. */
function createEvent(path: string, { body, ...context }: Call, session: AuthSession | null = sessionIn(active)) {
  return auditEventFromCall(queryBuilderOf(em()), { path, body, context }, session);
}

test("an event belongs to the organization of the request, if the user is a member, else to the active one", async () => {
  const orgIdOf = async (organizationId: unknown, session = sessionIn(active)) =>
    (await createEvent("/organization/update", { body: { organizationId } }, session)).orgId;
  expect([await orgIdOf(second), await orgIdOf(active)]).toEqual([second, active]);
  for (const orgId of [foreign, randomUUID(), "not an id", undefined]) expect(await orgIdOf(orgId)).toBe(active);
  expect([await orgIdOf(foreign, sessionIn(null)), await orgIdOf(null, sessionIn(foreign))]).toEqual([null, null]);
});

test("an event belongs to the organization of the response, which comes before the one of the request", async () => {
  const body = { organizationId: active };
  const organization = { id: second, slug: "acme" };
  const record = { id: randomUUID(), organizationId: second };
  for (const returned of [organization, record, { member: record }, { invitation: record }])
    expect([returned, (await createEvent("/organization/x", { body, returned })).orgId]).toEqual([returned, second]);
  // The id of a record that is not an organization.
  const returned = { id: foreign };
  expect((await createEvent("/organization/x", { body, returned })).orgId).toBe(active);
});

test("outside of the calls for organizations, ids in the request and in the response are ignored", async () => {
  const call = { body: { organizationId: second, invitationId: randomUUID() }, returned: { organizationId: second } };
  for (const path of ["/update-user", "/device/organization/x"])
    expect(await createEvent(path, call)).toMatchObject({ orgId: active, target: null });
});

test("the target of an event is the invitation or the organization of the request", async () => {
  const invitationId = randomUUID();
  const targetOf = async (body: object) => (await createEvent("/organization/x", { body })).target;
  expect(await targetOf({ invitationId, organizationId: second })).toBe(invitationId);
  expect(await targetOf({ invitationId: "not an id", organizationId: second })).toBe(second);
  expect([await targetOf({ memberId: randomUUID() }), await targetOf({})]).toEqual([null, null]);
});

test("the target of a new invitation is the invitation, and that of a changed member is the user", async () => {
  const [id, member] = [randomUUID(), { id: randomUUID(), userId: randomUUID(), organizationId: active }];
  const body = { organizationId: active };
  const targetOf = async (path: string, returned: object) => {
    const { target, targetKind } = await createEvent(`/organization/${path}`, { body, returned });
    return [target, targetKind];
  };
  expect(await targetOf("invite-member", { id })).toEqual([id, "invitation"]);
  expect(await targetOf("update-member-role", member)).toEqual([member.userId, "user"]);
  expect(await targetOf("remove-member", { member })).toEqual([member.userId, "user"]);
  const unnamed = [active, undefined];
  expect(await targetOf("leave", member)).toEqual(unnamed);
  expect(await targetOf("create", { id, slug: "acme" })).toEqual(unnamed);
  expect(await targetOf("invite-member", { id: "not an id" })).toEqual(unnamed);
  expect(await targetOf("remove-member", { userId: "not an id" })).toEqual(unnamed);
});

test("a failed sign-in belongs to the user of the address, without a session, and any other failed call to none", async () => {
  const failed = { body: { email: EMAIL.toUpperCase() }, returned: new APIError("UNAUTHORIZED") };
  const common = { outcome: "refused", orgId: null, credential: null, target: null };
  const signIn = { ...common, action: "sign-in/email", userId };
  for (const session of [sessionIn(active), null])
    expect(await createEvent("/sign-in/email", failed, session)).toMatchObject(signIn);
  const unknown = { ...failed, body: { email: "unknown@example.com" } };
  expect(await createEvent("/sign-in/email", unknown, null)).toMatchObject({ ...signIn, userId: null });
  expect(await createEvent("/sign-up/email", failed, null)).toMatchObject({ ...common, userId: null });
});

test("a sign-in belongs to its new session, and a call without a session to no organization", async () => {
  const signedIn = await createEvent("/sign-in/email", { newSession: sessionIn(second), body: { email: EMAIL } }, null);
  expect(signedIn).toMatchObject({
    outcome: "done",
    userId,
    orgId: second,
    credential: { kind: "session", id: "a session" },
  });
  const returned = { organizationId: second };
  expect(await createEvent("/organization/x", { returned }, null)).toMatchObject({ userId: null, orgId: null });
});
