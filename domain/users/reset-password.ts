import { randomUUID } from "node:crypto";
import { addEvent } from "../audit/record-event.ts";
import { ServiceError } from "../shared/errors.ts";
import { queryBuilderOf, type SqlTransaction } from "../database-types.ts";
import { revokeRefreshTokens } from "./revoke-refresh-tokens.ts";
import { isReservedEmail } from "./reserved-email.ts";

/**
 * Gives a person another password, in the transaction of `em`, and ends all that the old one led to: sessions, access
 * tokens and the refresh tokens of clients. Personal access tokens stay; they are revoked one by one.
 *
 * @throws {ServiceError} `not_found` when nobody signs in with the address
 */
export async function resetPassword(
  em: SqlTransaction,
  { email, passwordHash }: { email: string; passwordHash: string },
): Promise<{ user_id: string }> {
  const db = queryBuilderOf(em);
  const address = email.trim().toLowerCase();
  const person = await db.selectFrom("auth.user").select("id").where("email", "=", address).executeTakeFirst();
  if (person === undefined || isReservedEmail(address))
    throw new ServiceError("not_found", "Nobody signs in with this address.");
  const userId = person.id;
  const now = new Date().toISOString();
  const { numUpdatedRows } = await db
    .updateTable("auth.account")
    .set({ password: passwordHash, updatedAt: now })
    .where("userId", "=", userId)
    .where("providerId", "=", "credential")
    .executeTakeFirst();
  if (numUpdatedRows === 0n)
    await db
      .insertInto("auth.account")
      .values({
        ...{ id: randomUUID(), accountId: userId, providerId: "credential", userId },
        ...{ password: passwordHash, createdAt: now, updatedAt: now },
      })
      .execute();
  await db.deleteFrom("auth.session").where("userId", "=", userId).execute();
  await revokeRefreshTokens(db, userId);
  addEvent(em, {
    ...{ action: "reset-password", outcome: "done", orgId: null, userId, target: userId },
    ...{ credential: null, address: null },
  });
  await em.flush();
  return { user_id: userId };
}
