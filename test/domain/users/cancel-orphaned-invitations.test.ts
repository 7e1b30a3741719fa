import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { queryBuilderOf } from "../../../domain/database-types.ts";
import { cancelOrphanedInvitations } from "../../../domain/users/cancel-orphaned-invitations.ts";
import { findRole } from "../../../domain/users/memberships.ts";
import { givenMember, givenUser } from "../../support/identity/given-user.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();

test("an invitation is canceled when its inviter may not assign its role any more", async () => {
  const [{ org_id: orgId }, { org_id: elsewhere }] = [await service().tenant(), await service().tenant()];
  const inviters: Record<string, string> = {};
  for (const role of ["owner", "admin", "member", "none"]) inviters[role] = await givenUser(em());
  for (const role of ["owner", "admin", "member"]) await givenMember(em(), { orgId, userId: inviters[role]!, role });
  await givenMember(em(), { orgId: elsewhere, userId: inviters["none"]!, role: "owner" });
  const invite = async (inviter: string, role: string, status = "pending") => {
    const id = randomUUID();
    await em().execute(
      `insert into auth.invitation (id, "organizationId", email, role, status, "expiresAt", "inviterId")
       values (?, ?, 'ada@example.com', ?, ?, now(), ?)`,
      [id, orgId, role, status, inviters[inviter]],
    );
    return id;
  };
  const statuses: [id: string, expected: string][] = [
    [await invite("owner", "owner"), "pending"],
    [await invite("admin", "admin"), "pending"],
    [await invite("admin", "owner"), "canceled"],
    [await invite("member", "member"), "canceled"],
    [await invite("none", "member"), "canceled"],
    [await invite("none", "member", "accepted"), "accepted"],
  ];
  await cancelOrphanedInvitations(queryBuilderOf(em()));
  for (const [id, status] of statuses)
    expect(await em().execute("select status from auth.invitation where id = ?", [id])).toEqual([{ status }]);
});

test("the role of a user in an organization is the highest of their membership there", async () => {
  const [{ org_id: orgId }, { org_id: elsewhere }] = [await service().tenant(), await service().tenant()];
  const [userId, other] = [await givenUser(em()), await givenUser(em())];
  await givenMember(em(), { orgId, userId, role: "member,admin" });
  await givenMember(em(), { orgId: elsewhere, userId: other, role: "owner" });
  const db = queryBuilderOf(em());
  expect(await findRole(db, orgId, userId)).toBe("admin");
  expect([await findRole(db, elsewhere, userId), await findRole(db, orgId, other)]).toEqual([null, null]);
});
