import type { Db } from "../database-types.ts";
import { FIRST_TOKEN_NAMES } from "./create-organization.ts";
import { FIRST_OWNER_EMAIL, placeholderOwnerEmail } from "./reserved-email.ts";

/**
 * Makes a user the owner of the organization that the first start created. Its first tokens expire, because the start has
 * printed them and stored them in a file. Call it in a transaction: of two simultaneous calls, only one claims the
 * organization.
 *
 * @returns the id of the organization, or `null` when it is claimed already or does not exist
 */
export async function claimFirstOrganization(db: Db, userId: string): Promise<string | null> {
  const orgId = await replacePlaceholderOwner(db, FIRST_OWNER_EMAIL, userId);
  if (orgId !== null) await expireFirstTokens(db, orgId);
  return orgId;
}

/** Makes a user the owner of an organization that an operator created. Returns `null` when it has no placeholder owner. */
export function claimOrganization(db: Db, orgId: string, userId: string): Promise<string | null> {
  return replacePlaceholderOwner(db, placeholderOwnerEmail(orgId), userId);
}

/** Gives the membership, tokens, apps and deployments of a placeholder owner to a user, and deletes the placeholder. */
async function replacePlaceholderOwner(db: Db, email: string, userId: string): Promise<string | null> {
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
  // A user who accepted an invitation is a member already, and a user has one membership per organization.
  await db
    .deleteFrom("auth.member")
    .where("userId", "=", userId)
    .where("organizationId", "=", organizationId)
    .execute();
  await db.updateTable("auth.member").set({ userId }).where("userId", "=", placeholder.id).execute();
  await db.updateTable("machine_tokens").set({ user_id: userId }).where("user_id", "=", placeholder.id).execute();
  await db.updateTable("apps").set({ created_by: userId }).where("created_by", "=", placeholder.id).execute();
  await db.updateTable("deployments").set({ created_by: userId }).where("created_by", "=", placeholder.id).execute();
  await db.deleteFrom("auth.user").where("id", "=", placeholder.id).execute();
  return organizationId;
}

/** Tokens that were issued later remain valid, also those that replaced a first token and have its name. */
async function expireFirstTokens(db: Db, orgId: string): Promise<void> {
  const firstTokens = db
    .selectFrom("machine_tokens")
    .distinctOn("kind")
    .select("id")
    .where("org_id", "=", orgId)
    .where("name", "in", Object.values(FIRST_TOKEN_NAMES))
    .orderBy("kind")
    .orderBy("created_at");
  await db
    .updateTable("machine_tokens")
    .set({ expires_at: new Date().toISOString() as never })
    .where("id", "in", firstTokens)
    .execute();
}
