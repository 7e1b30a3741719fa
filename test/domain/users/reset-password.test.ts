import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { queryBuilderOf } from "../../../domain/database-types.ts";
import { placeholderOwnerEmail } from "../../../domain/organizations/reserved-email.ts";
import { connectOAuthClient } from "../../../domain/users/oauth-connections.ts";
import { resetPassword } from "../../../domain/users/reset-password.ts";
import {
  givenOAuthClient,
  givenPassword,
  givenRefreshToken,
  givenSession,
  givenUser,
} from "../../support/identity/given-user.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();

const reset = (email: string, passwordHash = "new hash") =>
  em().transactional((tx) => resetPassword(tx, { email, passwordHash }));

interface Account {
  accountId: string;
  providerId: string;
  password: string | null;
  updatedAt: Date;
}

const accountsOf = (userId: string) =>
  em().execute<Account[]>(
    `select "accountId", "providerId", password, "updatedAt" from auth.account where "userId" = ? order by "providerId"`,
    [userId],
  );

const count = async (table: string, userId: string) => {
  const rows = await em().execute<unknown[]>(`select 1 from auth."${table}" where "userId" = ?`, [userId]);
  return rows.length;
};

test("a reset replaces the password, ends all sessions and OAuth connections of the user, and is recorded", async () => {
  const email = `${randomUUID()}@example.com`;
  const [userId, otherUser] = [await givenUser(em(), email), await givenUser(em())];
  const clientId = await givenOAuthClient(em());
  for (const user of [userId, otherUser]) {
    await givenPassword(em(), user, new Date(1), new Date(2));
    await givenSession(em(), user);
    await givenRefreshToken(em(), user, clientId);
    const access = { userId: user, clientId, scope: "apps:read", organizationId: null, issuedAt: 0 };
    await connectOAuthClient(queryBuilderOf(em()), access, { requiresConsent: false });
  }
  await em().execute(
    `insert into auth.account ("accountId", "providerId", "userId", "updatedAt") values ('social', 'github', ?, ?)`,
    [userId, new Date(2)],
  );
  expect(await reset(` ${email.toUpperCase()}\n`)).toEqual({ user_id: userId });
  expect(await accountsOf(userId)).toEqual([
    { accountId: userId, providerId: "credential", password: "new hash", updatedAt: expect.anything() },
    { accountId: "social", providerId: "github", password: null, updatedAt: expect.anything() },
  ]);
  const [changed, social] = (await accountsOf(userId)).map(({ updatedAt }) => new Date(updatedAt).getTime());
  expect(changed).toBeGreaterThan(2);
  expect(social).toBe(2);
  expect(await accountsOf(otherUser)).toMatchObject([{ password: null }]);
  for (const table of ["session", "oauthConnection"])
    expect([await count(table, userId), await count(table, otherUser)]).toEqual([0, 1]);
  const events = await em().execute(
    "select action, outcome, org_id, target, target_kind, credential_kind, address from audit_events where user_id = ?",
    [userId],
  );
  expect(events).toEqual([
    {
      action: "reset-password",
      outcome: "done",
      org_id: null,
      target: userId,
      target_kind: "user",
      credential_kind: null,
      address: null,
    },
  ]);
});

test("a reset gives a password to a user without one", async () => {
  const email = `${randomUUID()}@example.com`;
  const userId = await givenUser(em(), email);
  await reset(email);
  await reset(email, "newer hash");
  expect(await accountsOf(userId)).toMatchObject([
    { accountId: userId, providerId: "credential", password: "newer hash" },
  ]);
});

test("404 for an email address that no user has, or that the service reserves", async () => {
  const reserved = placeholderOwnerEmail((await service().tenant()).org_id);
  const placeholder = `${randomUUID()}@${reserved.split("@")[1]}`;
  await givenUser(em(), placeholder);
  for (const email of [`${randomUUID()}@example.com`, placeholder])
    await expect(reset(email)).rejects.toMatchObject({ code: "not_found" });
});
