import type { Db } from "../database-types.ts";

/**
 * Ends the connections of all OAuth clients of a user, and revokes their refresh tokens. Each client must then send the user through authorization
 * again.
 */
export async function revokeRefreshTokens(db: Db, userId: string): Promise<void> {
  await db
    .updateTable("auth.oauthRefreshToken")
    .set({ revoked: new Date().toISOString() })
    .where("userId", "=", userId)
    .where("revoked", "is", null)
    .execute();
  await db.deleteFrom("auth.oauthConnection").where("userId", "=", userId).execute();
}
