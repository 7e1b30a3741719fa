import type { Db } from "../database-types.ts";

/** The minimum time between two updates of `lastUsedAt`, in milliseconds. */
const UPDATE_INTERVAL_MS = 86_400_000;

/** Records that an OAuth client received a token. Clients that were not used for a long time are purged. */
export async function touchOAuthClient(db: Db, clientId: string): Promise<void> {
  const now = Date.now();
  await db
    .updateTable("auth.oauthClient")
    .set({ lastUsedAt: new Date(now).toISOString() })
    .where("clientId", "=", clientId)
    .where(({ or, eb }) =>
      or([eb("lastUsedAt", "is", null), eb("lastUsedAt", "<", new Date(now - UPDATE_INTERVAL_MS).toISOString())]),
    )
    .execute();
}
