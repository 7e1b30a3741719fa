import type { Db } from "../database-types.ts";

/** What the access token of an OAuth client says about it. */
export interface GrantedAccess {
  userId: string;
  clientId: string;
  /** Separated by spaces. */
  scope: string;
  /** The only organization in which the client may act; `null` for all organizations of the user. */
  organizationId: string | null;
  /** Seconds since the epoch. */
  issuedAt: number;
}

/**
 * Records that a user has connected an OAuth client. An access token is valid only while its connection exists, so that a
 * revocation takes effect at once.
 *
 * @param grant.requiresConsent - whether to record nothing without a consent of the user. A client may redeem an
 *   authorization code after the user has revoked its access.
 */
export async function connectOAuthClient(
  db: Db,
  { userId, clientId, scope, organizationId, issuedAt }: GrantedAccess,
  { requiresConsent }: { requiresConsent: boolean },
): Promise<void> {
  if (requiresConsent && !(await hasConsent(db, userId, clientId))) return;
  const now = new Date().toISOString();
  const values = { scope, organizationId, lastUsedAt: now };
  await db
    .insertInto("auth.oauthConnection")
    .values({ userId, clientId, connectedAt: new Date(issuedAt * 1000).toISOString(), ...values })
    .onConflict((conflict) => conflict.columns(["userId", "clientId"]).doUpdateSet(values))
    .execute();
}

/** Records that a connected client has received another access token. Does not restore a connection that was revoked. */
export async function touchOAuthConnection(db: Db, { userId, clientId, scope }: GrantedAccess): Promise<void> {
  await db
    .updateTable("auth.oauthConnection")
    .set({ scope, lastUsedAt: new Date().toISOString() })
    .where("userId", "=", userId)
    .where("clientId", "=", clientId)
    .execute();
}

async function hasConsent(db: Db, userId: string, clientId: string): Promise<boolean> {
  const client = await db
    .selectFrom("auth.oauthClient as client")
    .leftJoin("auth.oauthConsent as consent", (join) =>
      join.onRef("consent.clientId", "=", "client.clientId").on("consent.userId", "=", userId),
    )
    .select(["client.skipConsent", "consent.id as consentId"])
    .where("client.clientId", "=", clientId)
    .executeTakeFirst();
  return client !== undefined && (client.skipConsent === true || client.consentId !== null);
}
