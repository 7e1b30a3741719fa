import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { type Db, queryBuilderOf } from "../../../domain/database-types.ts";
import {
  deleteOtherConsents,
  EVERY_ORGANIZATION,
  findConsentedOrganization,
} from "../../../domain/users/consented-organization.ts";
import { givenConsent, givenMember, givenOAuthClient, givenUser } from "../../support/identity/given-user.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();
const db = (): Db => queryBuilderOf(em());

test("a consent is for one organization of the user, or for every one", async () => {
  const [{ org_id: orgId }, { org_id: elsewhere }] = [await service().tenant(), await service().tenant()];
  const cases: [consents: (string | null)[], expected: string | null][] = [
    [[], null],
    [[null], null],
    [[elsewhere], null],
    [[orgId], orgId],
    [[null, elsewhere, orgId], orgId],
    [[EVERY_ORGANIZATION], "every"],
  ];
  for (const [consents, expected] of cases) {
    const [userId, clientId] = [await givenUser(em()), await givenOAuthClient(em())];
    await givenMember(em(), { orgId, userId, role: "member" });
    await givenMember(em(), { orgId: elsewhere, userId: await givenUser(em()), role: "member" });
    for (const consent of consents) await givenConsent(em(), userId, clientId, consent);
    await givenConsent(em(), userId, await givenOAuthClient(em()), orgId);
    await givenConsent(em(), await givenUser(em()), clientId, "every");
    expect([consents, await findConsentedOrganization(db(), { userId, clientId })]).toEqual([consents, expected]);
  }
});

test("the last decision of a user about a client replaces the earlier ones", async () => {
  const [userId, otherUser] = [await givenUser(em()), await givenUser(em())];
  const [clientId, otherClient, orgId] = [await givenOAuthClient(em()), await givenOAuthClient(em()), randomUUID()];
  for (const organization of [null, randomUUID(), EVERY_ORGANIZATION, orgId])
    await givenConsent(em(), userId, clientId, organization);
  await givenConsent(em(), otherUser, clientId, randomUUID());
  await givenConsent(em(), userId, otherClient, null);
  await deleteOtherConsents(db(), { userId, clientId }, orgId);
  const consents = (user: string, client: string) =>
    em().execute(`select "referenceId" as org from auth."oauthConsent" where "userId" = ? and "clientId" = ?`, [
      user,
      client,
    ]);
  expect(await consents(userId, clientId)).toEqual([{ org: orgId }]);
  expect(await consents(otherUser, clientId)).toHaveLength(1);
  expect(await consents(userId, otherClient)).toHaveLength(1);
});
