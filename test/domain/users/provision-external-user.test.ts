import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { queryBuilderOf } from "../../../domain/database-types.ts";
import { externalUserEmail } from "../../../domain/organizations/reserved-email.ts";
import { findExternalUser, provisionExternalUser } from "../../../domain/users/provision-external-user.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();
const ISSUER = "https://issuer.example.com";

const provision = (subject: string, name: string) =>
  em().transactional((tx) => provisionExternalUser(queryBuilderOf(tx), { issuer: ISSUER, subject, name }));

const membershipsOf = (userId: string) =>
  em().execute(
    `select "organizationId" as id, organization.name, role, plan
     from auth.member join auth.organization organization on organization.id = "organizationId"
     join organizations on organizations.id = organization.id where "userId" = ?`,
    [userId],
  );

test("the first external user owns the first organization, and every later one an organization of their own", async () => {
  const { org_id: firstOrgId } = service().service.bootstrapped!;
  const first = await provision(randomUUID(), "Ada");
  expect(await membershipsOf(first)).toEqual([expect.objectContaining({ id: firstOrgId, role: "owner" })]);
  const second = await provision(randomUUID(), "Grace");
  const own = { id: expect.not.stringMatching(firstOrgId), name: "Grace's organization", role: "owner", plan: null };
  expect(await membershipsOf(second)).toEqual([own]);
});

test("a provisioned user has the account of its issuer and subject, by which it is found", async () => {
  const subject = randomUUID();
  const user = { issuer: ISSUER, subject, name: "Ada" };
  const { db } = service().service.parts;
  expect(await findExternalUser(db, user)).toBeNull();
  const userId = await provision(subject, "Ada");
  expect(await findExternalUser(db, { ...user, name: "Renamed" })).toBe(userId);
  expect(await findExternalUser(db, { ...user, issuer: "https://other.example.com" })).toBeNull();
  expect(await findExternalUser(db, { ...user, subject: randomUUID() })).toBeNull();
  expect(
    await em().execute(`select name, email, "emailVerified" as verified from auth."user" where id = ?`, [userId]),
  ).toEqual([{ name: "Ada", email: externalUserEmail(ISSUER, subject), verified: false }]);
  expect(
    await em().execute(`select "accountId" as subject, "providerId" as provider from auth.account where "userId" = ?`, [
      userId,
    ]),
  ).toEqual([{ subject, provider: `oidc:${ISSUER}` }]);
});
