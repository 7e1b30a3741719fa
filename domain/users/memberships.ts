import { highestRole, type Role } from "../shared/caller.ts";
import type { Db } from "../database-types.ts";

/** What a person is in an organization; `null` when they are no member of it. */
export async function roleIn(db: Db, orgId: string, userId: string): Promise<Role | null> {
  const member = await db
    .selectFrom("auth.member")
    .select("role")
    .where("organizationId", "=", orgId)
    .where("userId", "=", userId)
    .executeTakeFirst();
  return member === undefined ? null : highestRole(member.role);
}
