import { highestRole, type Role } from "../shared/roles.ts";
import type { Db } from "../database-types.ts";

/** Returns the role of a user in an organization; `null` when the user is not a member. */
export async function findRole(db: Db, orgId: string, userId: string): Promise<Role | null> {
  const member = await db
    .selectFrom("auth.member")
    .select("role")
    .where("organizationId", "=", orgId)
    .where("userId", "=", userId)
    .executeTakeFirst();
  return member === undefined ? null : highestRole(member.role);
}
