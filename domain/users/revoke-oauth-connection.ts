import { type Db, queryBuilderOf } from "../database-types.ts";
import type { ChangeFeed } from "../ports/change-feed.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { inTransaction } from "../shared/transaction.ts";
import { requireSignedInUser } from "./signed-in-user.ts";
import type { EntityManager } from "@mikro-orm/core";

export interface RevokeOAuthConnectionDeps {
  em: EntityManager;
  accessChanges: ChangeFeed;
}

/**
 * Revokes the access of an OAuth client to everything of the user: its access tokens, immediately and in every process, its
 * refresh tokens and the consent. To connect again, the client must ask the user for consent.
 *
 * @throws {ServiceError} `not_found` for a connection of another user
 * @throws {ServiceError} `forbidden` for a machine token
 */
export async function revokeOAuthConnection(
  { em, accessChanges }: RevokeOAuthConnectionDeps,
  caller: Caller,
  id: string,
): Promise<{ status: "revoked" }> {
  const userId = requireSignedInUser(caller);
  const isRevoked = await inTransaction(em, (tx) => deleteConnection(queryBuilderOf(tx as never), userId, id));
  if (!isRevoked) throw new ServiceError("not_found", "OAuth client not found");
  accessChanges.announce(userId);
  return { status: "revoked" };
}

async function deleteConnection(db: Db, userId: string, id: string): Promise<boolean> {
  const connection = await db
    .deleteFrom("auth.oauthConnection")
    .where("id", "=", id)
    .where("userId", "=", userId)
    .returning("clientId")
    .executeTakeFirst();
  if (connection === undefined) return false;
  const { clientId } = connection;
  await db.deleteFrom("auth.oauthConsent").where("userId", "=", userId).where("clientId", "=", clientId).execute();
  await db
    .updateTable("auth.oauthRefreshToken")
    .set({ revoked: new Date().toISOString() })
    .where("userId", "=", userId)
    .where("clientId", "=", clientId)
    .where("revoked", "is", null)
    .execute();
  return true;
}
