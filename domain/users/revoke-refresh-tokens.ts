import type { Db } from "../database-types.ts";

/** Ends what clients hold of a person: none that was let in gets another access token without asking again. */
export async function revokeRefreshTokens(db: Db, userId: string): Promise<void> {
  await db
    .updateTable("auth.oauthRefreshToken")
    .set({ revoked: new Date().toISOString() })
    .where("userId", "=", userId)
    .where("revoked", "is", null)
    .execute();
}
