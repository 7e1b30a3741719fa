import type { Db } from "../database-types.ts";

/** Revokes the refresh tokens of all OAuth clients of a user. A client then needs the consent of the user again. */
export async function revokeRefreshTokens(db: Db, userId: string): Promise<void> {
  await db
    .updateTable("auth.oauthRefreshToken")
    .set({ revoked: new Date().toISOString() })
    .where("userId", "=", userId)
    .where("revoked", "is", null)
    .execute();
}
