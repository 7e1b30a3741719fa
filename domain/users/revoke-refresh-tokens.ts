import type { Db } from "../database-types.ts";

/**
 * Revokes the refresh tokens of all OAuth clients of a user. Each client must then send the user through authorization
 * again.
 */
export async function revokeRefreshTokens(db: Db, userId: string): Promise<void> {
  await db
    .updateTable("auth.oauthRefreshToken")
    .set({ revoked: new Date().toISOString() })
    .where("userId", "=", userId)
    .where("revoked", "is", null)
    .execute();
}
