import type { Caller } from "../shared/caller.ts";
import type { ChangeFeed } from "../ports/change-feed.ts";
import type { Db } from "../database-types.ts";
import { selectTokens } from "./select-tokens.ts";
import { tokenNotFound } from "./token-view.ts";

export interface RevokeTokenDeps {
  db: Db;
  accessChanges: ChangeFeed;
}

/**
 * Revokes a token immediately, in every process.
 *
 * @throws {ServiceError} `not_found` for a token that the caller may not manage, or that is revoked already
 */
export async function revokeToken(
  { db, accessChanges }: RevokeTokenDeps,
  caller: Caller,
  id: string,
): Promise<{ status: "revoked" }> {
  const { numUpdatedRows } = await db
    .updateTable("machine_tokens")
    .set({ revoked_at: new Date().toISOString() as never })
    .where("id", "in", selectTokens(db, caller).clearSelect().select("id").where("id", "=", id))
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw tokenNotFound();
  accessChanges.announce(caller.orgId);
  return { status: "revoked" };
}
