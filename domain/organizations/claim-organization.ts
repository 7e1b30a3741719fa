import type { Db } from "../database-types.ts";
import { FIRST_OWNER_EMAIL, placeholderEmail } from "./placeholder-owner.ts";

/**
 * Gives the first person who signs up the organization that the first start created, with its tokens and apps. Run it
 * in a transaction: of two people at once, the second finds nothing to take.
 *
 * @returns the id of the organization, or `null` when nobody's place is free
 */
export function claimFirstOrganization(db: Db, userId: string): Promise<string | null> {
  return replacePlaceholder(db, FIRST_OWNER_EMAIL, userId);
}

/** Gives a person who accepted to own an organization the place that was kept for them; nothing when none is. */
export function claimOrganization(db: Db, orgId: string, userId: string): Promise<string | null> {
  return replacePlaceholder(db, placeholderEmail(orgId), userId);
}

async function replacePlaceholder(db: Db, email: string, userId: string): Promise<string | null> {
  // The update locks the row until the transaction ends.
  const placeholder = await db
    .updateTable("auth.user")
    .set({ updatedAt: new Date().toISOString() })
    .where("email", "=", email)
    .returning("id")
    .executeTakeFirst();
  if (placeholder === undefined) return null;
  const { organizationId } = await db
    .selectFrom("auth.member")
    .select("organizationId")
    .where("userId", "=", placeholder.id)
    .executeTakeFirstOrThrow();
  // Whoever accepted an invitation is a member already.
  await db
    .deleteFrom("auth.member")
    .where("userId", "=", userId)
    .where("organizationId", "=", organizationId)
    .execute();
  await db.updateTable("auth.member").set({ userId }).where("userId", "=", placeholder.id).execute();
  await db.updateTable("machine_tokens").set({ user_id: userId }).where("user_id", "=", placeholder.id).execute();
  await db.updateTable("apps").set({ created_by: userId }).where("created_by", "=", placeholder.id).execute();
  await db.deleteFrom("auth.user").where("id", "=", placeholder.id).execute();
  return organizationId;
}
