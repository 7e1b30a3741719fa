import type { Db } from "../database-types.ts";

/** Revokes the personal access tokens of former members. Otherwise a token would be valid again if its owner rejoined. */
export async function revokeOrphanedTokens(db: Db): Promise<void> {
  await db
    .updateTable("machine_tokens")
    .set({ revoked_at: new Date().toISOString() as never })
    .where("kind", "=", "personal_access_token")
    .where("revoked_at", "is", null)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("auth.member as member")
            .select("member.id")
            .whereRef("member.userId", "=", "machine_tokens.user_id")
            .whereRef("member.organizationId", "=", "machine_tokens.org_id"),
        ),
      ),
    )
    .execute();
}
