import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { queryBuilderOf } from "../../../domain/database-types.ts";
import { claimFirstOrganization, claimOrganization } from "../../../domain/organizations/claim-organization.ts";
import {
  createOrganization,
  insertOrganization,
  type NewOrganization,
} from "../../../domain/organizations/create-organization.ts";
import { isFirstRun, lockFirstSignUp } from "../../../domain/organizations/first-run.ts";
import { inviteOwner } from "../../../domain/organizations/invite-owner.ts";
import {
  externalUserEmail,
  FIRST_OWNER_EMAIL,
  isReservedEmail,
  placeholderOwnerEmail,
} from "../../../domain/organizations/reserved-email.ts";
import { givenMember, givenUser } from "../../support/identity/given-user.ts";
import { createHarness } from "../../support/service/harness.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();
const DAY_MS = 86_400_000;

const create = (organization: Partial<NewOrganization> = {}) =>
  em().transactional((tx) =>
    createOrganization(tx, { name: "Acme", email: "ada@example.com", plan: "free", ...organization }),
  );

const claim = (orgId: string, userId: string) =>
  em().transactional((tx) => claimOrganization(queryBuilderOf(tx), orgId, userId));

const rows = (sql: string, ...params: unknown[]) => em().execute<Record<string, unknown>[]>(sql, params);

const membersOf = (orgId: string) =>
  rows(`select "userId", role from auth.member where "organizationId" = ? order by role`, orgId);

const tokensOf = (orgId: string) =>
  rows("select kind, name, user_id, expires_at, revoked_at from machine_tokens where org_id = ? order by kind", orgId);

test("a new organization has its trimmed name, its plan, a placeholder owner and two tokens", async () => {
  const created = await create({ name: " Acme ", plan: "team" });
  const { org_id: orgId, user_id: userId } = created;
  expect(await rows("select name, slug from auth.organization where id = ?", orgId)).toEqual([
    { name: "Acme", slug: orgId },
  ]);
  expect(await rows("select plan from organizations where id = ?", orgId)).toEqual([{ plan: "team" }]);
  expect(await membersOf(orgId)).toEqual([{ userId, role: "owner" }]);
  expect(await rows(`select name, email, "emailVerified" as verified from auth."user" where id = ?`, userId)).toEqual([
    { name: "Owner", email: placeholderOwnerEmail(orgId), verified: false },
  ]);
  const token = { user_id: userId, expires_at: null, revoked_at: null };
  expect(await tokensOf(orgId)).toEqual([
    { ...token, kind: "api_key", name: "First API key" },
    { ...token, kind: "personal_access_token", name: "First personal access token" },
  ]);
  expect([created.api_key.slice(0, 4), created.personal_access_token.slice(0, 4)]).toEqual(["svk_", "svp_"]);
});

test("an organization without a plan has the default plan", async () => {
  const id = randomUUID();
  await em().transactional(async (tx) =>
    insertOrganization(queryBuilderOf(tx), { id, name: "Own", plan: null, ownerId: await givenUser(em()) }),
  );
  expect(await rows("select plan from organizations where id = ?", id)).toEqual([{ plan: null }]);
});

test("the name of an organization has 1 to 100 characters", async () => {
  for (const name of ["", "  ", "x".repeat(101)])
    await expect(create({ name })).rejects.toMatchObject({ code: "invalid" });
  for (const name of ["x", ` ${"x".repeat(100)} `]) expect((await create({ name })).org_id).toBeTruthy();
});

test("the user who claims an organization gets the placeholder's membership, tokens, apps and deployments", async () => {
  const [{ org_id: orgId, user_id: placeholder }, other] = [await create(), await create()];
  const userId = await givenUser(em());
  await givenMember(em(), { orgId, userId, role: "member" });
  await givenMember(em(), { orgId: other.org_id, userId, role: "member" });
  const app = await service().givenApp({ ...other, org_id: orgId, user_id: placeholder });
  const foreign = await service().givenApp(other);
  expect(await claim(orgId, userId)).toBe(orgId);
  expect(await membersOf(orgId)).toEqual([{ userId, role: "owner" }]);
  expect(await membersOf(other.org_id)).toEqual([
    { userId, role: "member" },
    { userId: other.user_id, role: "owner" },
  ]);
  for (const table of ["apps", "deployments"])
    for (const [created, expected] of [
      [app, userId],
      [foreign, other.user_id],
    ] as const)
      expect(
        await rows(`select created_by from ${table} where ${table === "apps" ? "id" : "app_id"} = ?`, created.id),
      ).toEqual([{ created_by: expected }]);
  const owners = async (id: string) => (await tokensOf(id)).map(({ user_id: owner, expires_at: at }) => [owner, at]);
  expect(await owners(orgId)).toEqual([
    [userId, null],
    [userId, null],
  ]);
  expect(await owners(other.org_id)).toEqual([
    [other.user_id, null],
    [other.user_id, null],
  ]);
  expect(await rows(`select 1 from auth."user" where id = ?`, placeholder)).toEqual([]);
  expect(await claim(orgId, userId)).toBeNull();
});

test("the first user claims the first organization, whose first tokens then expire", async () => {
  await using harness = await createHarness();
  const { orm, db } = harness.service.parts;
  const { org_id: orgId, user_id: placeholder } = harness.service.bootstrapped!;
  const execute = (sql: string, ...params: unknown[]) => orm.em.fork().execute<Record<string, unknown>[]>(sql, params);
  // A later token with the same name: the successor of a first token, for example.
  await execute(
    `insert into machine_tokens (id, kind, token_sha256, prefix, name, org_id, user_id, scope, created_at)
     select gen_random_uuid(), kind, 'later', prefix, name, org_id, user_id, scope, now() + interval '1 minute'
     from machine_tokens where org_id = ? and kind = 'api_key'`,
    orgId,
  );
  expect([await isFirstRun(db), await lockFirstSignUp(db)]).toEqual([true, true]);
  const userId = await givenUser(orm.em.fork());
  const claimFirst = () => orm.em.fork().transactional((tx) => claimFirstOrganization(queryBuilderOf(tx), userId));
  expect(await claimFirst()).toBe(orgId);
  const tokens = await execute(
    "select kind, user_id, expires_at <= now() as expired from machine_tokens where org_id = ? order by kind, created_at",
    orgId,
  );
  expect(tokens).toEqual([
    { kind: "api_key", user_id: userId, expired: true },
    { kind: "api_key", user_id: userId, expired: null },
    { kind: "personal_access_token", user_id: userId, expired: true },
  ]);
  expect(placeholder).not.toBe(userId);
  expect([await isFirstRun(db), await lockFirstSignUp(db), await claimFirst()]).toEqual([false, false, null]);
  await execute(`delete from auth."user"`);
  expect([await isFirstRun(db), await lockFirstSignUp(db)]).toEqual([true, true]);
});

test("the invitation of an owner is pending for 30 days, for the address in lower case", async () => {
  const { org_id: orgId, user_id: placeholderId } = await create();
  const invite = (email: string) => em().transactional((tx) => inviteOwner(tx, { orgId, placeholderId, email }));
  const { invitation_id: id } = await invite("Ada@Example.com");
  const [invitation] = await rows(
    `select "organizationId" as org, "inviterId" as inviter, email, role, status, "expiresAt" as expiry from auth.invitation where id = ?`,
    id,
  );
  expect(invitation).toMatchObject({ org: orgId, inviter: placeholderId, email: "ada@example.com" });
  expect(invitation).toMatchObject({ role: "owner", status: "pending" });
  const lifetimeMs = new Date(invitation!["expiry"] as string).getTime() - Date.now();
  expect(lifetimeMs).toBeGreaterThan(29 * DAY_MS);
  expect(lifetimeMs).toBeLessThanOrEqual(30 * DAY_MS);
  for (const email of [
    "",
    "ada",
    "@example.com",
    "ada@",
    "a b@example.com",
    "a@b@c",
    " ada@x.com",
    "ada@x.com ",
    `${"a".repeat(65)}@x`,
    `a@${"x".repeat(191)}`,
  ])
    await expect(invite(email)).rejects.toMatchObject({ code: "invalid" });
  for (const email of [`${"a".repeat(64)}@x`, `a@${"x".repeat(190)}`])
    expect(await invite(email)).toEqual({ invitation_id: expect.any(String) });
});

test("the address of an external user depends on the issuer and the subject, and has a fixed length", () => {
  const emails = [externalUserEmail("a", "b"), externalUserEmail("a", "c"), externalUserEmail("c", "b")];
  for (const email of emails) expect(email).toMatch(/^[0-9a-f]{40}@oidc\.invalid$/);
  expect(new Set(emails).size).toBe(3);
});

test("the addresses of placeholders and external users are reserved, and no others", () => {
  for (const email of [FIRST_OWNER_EMAIL, placeholderOwnerEmail("x"), "a@INVALID", "a@localdomain", "a@b.invalid"])
    expect([email, isReservedEmail(email)]).toEqual([email, true]);
  for (const email of ["ada@example.com", "a@invalid.com", "a@notinvalid", "invalid@example.com"])
    expect([email, isReservedEmail(email)]).toEqual([email, false]);
});
