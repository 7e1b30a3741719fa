import type { Db } from "../database-types.ts";

/** How exactly the last use of an OAuth client is known. */
const STEP_MS = 86_400_000;

/** Writes down that an OAuth client was given a token. One that nobody uses is forgotten after a while. */
export async function touchOAuthClient(db: Db, clientId: string): Promise<void> {
  const now = Date.now();
  await db
    .updateTable("auth.oauthClient")
    .set({ lastUsedAt: new Date(now).toISOString() })
    .where("clientId", "=", clientId)
    .where(({ or, eb }) =>
      or([eb("lastUsedAt", "is", null), eb("lastUsedAt", "<", new Date(now - STEP_MS).toISOString())]),
    )
    .execute();
}
