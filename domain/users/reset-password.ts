import { randomUUID } from "node:crypto";
import { addEvent } from "../audit/record-event.ts";
import { isReservedEmail } from "../organizations/reserved-email.ts";
import { ServiceError } from "../shared/errors.ts";
import { queryBuilderOf, type Db, type SqlTransaction } from "../database-types.ts";
import { revokeRefreshTokens } from "./revoke-refresh-tokens.ts";

/**
 * Sets a new password for a user, in the transaction of `em`, and revokes what the old password gave access to: sessions,
 * access tokens and the refresh tokens of OAuth clients. Personal access tokens remain valid.
 *
 * @throws {ServiceError} `not_found` when no user has the email address
 */
export async function resetPassword(
  em: SqlTransaction,
  { email, passwordHash }: { email: string; passwordHash: string },
): Promise<{ user_id: string }> {
  const db = queryBuilderOf(em);
  const normalizedEmail = email.trim().toLowerCase();
  const user = await db.selectFrom("auth.user").select("id").where("email", "=", normalizedEmail).executeTakeFirst();
  if (user === undefined || isReservedEmail(normalizedEmail))
    throw new ServiceError("not_found", "No user has this email address.");
  await setPassword(db, user.id, passwordHash);
  await db.deleteFrom("auth.session").where("userId", "=", user.id).execute();
  await revokeRefreshTokens(db, user.id);
  addEvent(em, {
    action: "reset-password",
    outcome: "done",
    orgId: null,
    userId: user.id,
    target: user.id,
    targetKind: "user",
    credential: null,
    address: null,
  });
  await em.flush();
  return { user_id: user.id };
}

/** A user who signs in through a social provider has no account with a password yet. */
async function setPassword(db: Db, userId: string, passwordHash: string): Promise<void> {
  const now = new Date().toISOString();
  const { numUpdatedRows } = await db
    .updateTable("auth.account")
    .set({ password: passwordHash, updatedAt: now })
    .where("userId", "=", userId)
    .where("providerId", "=", "credential")
    .executeTakeFirst();
  if (numUpdatedRows > 0n) return;
  await db
    .insertInto("auth.account")
    .values({
      id: randomUUID(),
      accountId: userId,
      providerId: "credential",
      userId,
      password: passwordHash,
      createdAt: now,
      updatedAt: now,
    })
    .execute();
}
