import { randomUUID } from "node:crypto";
import { UnsecuredJWT } from "jose";
import { expect, test } from "vitest";
import { createOrganization } from "../../domain/organizations/create-organization.ts";
import type { AuthCall, AuthSession } from "../../server/identity/auth-call.ts";
import { applySideEffects, claimFirstOrganizationOnSignUp } from "../../server/identity/side-effects.ts";
import { sharedDatabase } from "../support/database/shared-database.ts";
import {
  givenInvitation,
  givenMember,
  givenOAuthClient,
  givenRefreshToken,
  givenUser,
} from "../support/identity/given-user.ts";

const orm = sharedDatabase();
const em = () => orm().em.fork();

/** Applies the side effects of a successful call. */
function apply(path: string, call: Partial<AuthCall> & { returned?: unknown } = {}, userId?: string): Promise<void> {
  const { returned, ...rest } = call;
  const session: AuthSession | null =
    userId === undefined ? null : { user: { id: userId, email: "" }, session: { id: randomUUID() } };
  return applySideEffects(orm(), { path, ...rest, context: { returned } }, session);
}

/** Creates an organization whose placeholder owner waits for a user, and returns its id and the id of the placeholder. */
async function givenUnclaimedOrganization(email: string | null = "owner@example.com") {
  const settings = { name: "Acme", email, plan: "free" };
  return em().transactional((tx) => createOrganization(tx, settings));
}

async function ownersOf(orgId: string): Promise<string[]> {
  const sql = `select "userId" as id from auth.member where "organizationId" = ? and role = 'owner'`;
  return (await em().execute<{ id: string }[]>(sql, [orgId])).map(({ id }) => id);
}

test("only a token request records the last use of its client", async () => {
  const clientId = await givenOAuthClient(em());
  const isUsed = `select "lastUsedAt" is not null as used from auth."oauthClient" where "clientId" = ?`;
  const body = { client_id: clientId };
  for (const path of ["/oauth2/revoke", "/oauth2/introspect"]) await apply(path, { body });
  await apply("/oauth2/token", { body: {} });
  expect(await em().execute(isUsed, [clientId])).toEqual([{ used: false }]);
  await apply("/oauth2/token", { body });
  expect(await em().execute(isUsed, [clientId])).toEqual([{ used: true }]);
});

test("only a token request connects its client to the user of the token", async () => {
  const [userId, clientId] = [await givenUser(em()), await givenOAuthClient(em())];
  const token = new UnsecuredJWT({ sub: userId, iat: 1_800_000_000, client_id: clientId, scope: "read" }).encode();
  const connected = `select "clientId" from auth."oauthConnection" where "userId" = ?`;
  await apply("/oauth2/introspect", { returned: { access_token: token } });
  expect(await em().execute(connected, [userId])).toEqual([]);
  await apply("/oauth2/token", { returned: { access_token: token } });
  expect(await em().execute(connected, [userId])).toEqual([{ clientId }]);
});

test("a password change revokes the refresh tokens of the user, and no other call does", async () => {
  const [userId, otherUser, clientId] = [await givenUser(em()), await givenUser(em()), await givenOAuthClient(em())];
  const [own, foreign] = [
    await givenRefreshToken(em(), userId, clientId),
    await givenRefreshToken(em(), otherUser, clientId),
  ];
  const listValid = async () => {
    const sql = `select id from auth."oauthRefreshToken" where "clientId" = ? and revoked is null`;
    return (await em().execute<{ id: string }[]>(sql, [clientId])).map(({ id }) => id).toSorted();
  };
  await apply("/update-user", {}, userId);
  await apply("/change-password", {});
  expect(await listValid()).toEqual([own, foreign].toSorted());
  await apply("/change-password", {}, userId);
  expect(await listValid()).toEqual([foreign]);
});

test("a consent without a session has no side effects", async () => {
  await expect(apply("/oauth2/consent", { returned: {} })).resolves.toBeUndefined();
});

test.for(["/organization/remove-member", "/organization/leave", "/organization/update-member-role"])(
  "%s revokes the personal access tokens and cancels the invitations of former members, and no other call does",
  async (path) => {
    const { org_id: orgId, user_id: memberId } = await givenUnclaimedOrganization();
    const [formerMember, email] = [await givenUser(em()), `${randomUUID()}@example.com`];
    const ids = [
      await givenInvitation(em(), { orgId, email, inviterId: formerMember }),
      await givenInvitation(em(), { orgId, email, inviterId: memberId }),
    ];
    await em().execute(
      `insert into machine_tokens (id, kind, token_sha256, prefix, name, org_id, user_id, created_at)
       select gen_random_uuid(), 'personal_access_token', gen_random_uuid(), 'svp_', 'given', ?, id, now()
       from auth."user" where id in (?, ?)`,
      [orgId, formerMember, memberId],
    );
    const revokedOf = async (userId: string) => {
      const sql = `select bool_or(revoked_at is not null) as revoked from machine_tokens where org_id = ? and user_id = ?`;
      return (await em().execute<{ revoked: boolean }[]>(sql, [orgId, userId]))[0]?.revoked;
    };
    const read = async () => {
      const sql = "select id, status from auth.invitation where email = ?";
      const rows = await em().execute<{ id: string; status: string }[]>(sql, [email]);
      const statuses = ids.map((id) => rows.find((row) => row.id === id)?.status);
      return [...statuses, await revokedOf(formerMember), await revokedOf(memberId)];
    };
    await apply("/organization/set-active");
    expect(await read()).toEqual(["pending", "pending", false, false]);
    await apply(path);
    expect(await read()).toEqual(["canceled", "pending", true, false]);
  },
);

test("only a user who accepts an invitation as owner replaces the placeholder owner of an organization", async () => {
  const { org_id: organizationId, user_id: placeholder } = await givenUnclaimedOrganization();
  const userId = await givenUser(em());
  await givenMember(em(), { orgId: organizationId, userId, role: "owner" });
  const returned = (role: string) => ({ returned: { member: { organizationId, userId, role } } });
  await apply("/organization/remove-member", returned("owner"));
  for (const role of ["member", "admin"]) await apply("/organization/accept-invitation", returned(role));
  await apply("/organization/accept-invitation", { returned: {} });
  expect((await ownersOf(organizationId)).toSorted()).toEqual([placeholder, userId].toSorted());
  await apply("/organization/accept-invitation", returned("owner"));
  expect(await ownersOf(organizationId)).toEqual([userId]);
});

test("a user who is not created in a transaction of better-auth does not claim the first organization", async () => {
  const { org_id: orgId, user_id: placeholder } = await givenUnclaimedOrganization(null);
  await claimFirstOrganizationOnSignUp(await givenUser(em()));
  expect(await ownersOf(orgId)).toEqual([placeholder]);
});
