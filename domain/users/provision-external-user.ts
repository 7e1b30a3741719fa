import { randomUUID } from "node:crypto";
import { claimFirstOrganization } from "../organizations/claim-organization.ts";
import { insertOrganization, insertUser } from "../organizations/create-organization.ts";
import { lockFirstSignUp } from "../organizations/first-run.ts";
import { externalUserEmail } from "../organizations/reserved-email.ts";
import type { Db } from "../database-types.ts";

export interface ExternalUser {
  /** Issuer and subject identify the user. No other claim of a token is trusted. */
  issuer: string;
  subject: string;
  /** The display name. */
  name: string;
}

/** Returns the id of the user with an issuer and a subject, or `null` when the user is not provisioned yet. */
export async function findExternalUser(db: Db, { issuer, subject }: ExternalUser): Promise<string | null> {
  const account = await db
    .selectFrom("auth.account")
    .select("userId")
    .where("providerId", "=", providerId(issuer))
    .where("accountId", "=", subject)
    .executeTakeFirst();
  return account?.userId ?? null;
}

/**
 * Creates a user with an organization: the first organization of the installation while it is unclaimed, else a new one.
 * Call it in a transaction: of two simultaneous calls for one user, one fails on the unique constraint of the account.
 *
 * @returns the id of the user
 */
export async function provisionExternalUser(db: Db, { issuer, subject, name }: ExternalUser): Promise<string> {
  const userId = randomUUID();
  const now = new Date().toISOString();
  // Holds the lock, so that a simultaneous sign-up does not count as the first one too.
  await lockFirstSignUp(db);
  await insertUser(db, { id: userId, name, email: externalUserEmail(issuer, subject) });
  await db
    .insertInto("auth.account")
    .values({
      id: randomUUID(),
      accountId: subject,
      providerId: providerId(issuer),
      userId,
      createdAt: now,
      updatedAt: now,
    })
    .execute();
  const claimedOrgId = await claimFirstOrganization(db, userId);
  if (claimedOrgId === null)
    await insertOrganization(db, { id: randomUUID(), name: `${name}'s organization`, plan: null, ownerId: userId });
  return userId;
}

function providerId(issuer: string): string {
  return `oidc:${issuer}`;
}
