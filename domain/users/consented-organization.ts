import type { Db } from "../database-types.ts";

/** Stored with a consent instead of the id of one organization. Do not change it. */
export const EVERY_ORGANIZATION = "every";

export interface Consent {
  userId: string;
  clientId: string;
}

/**
 * Returns the organization in which a user lets an OAuth client act: its id, or `EVERY_ORGANIZATION`.
 *
 * @returns `null` without a consent, and when the user is no longer a member of the organization
 */
export async function findConsentedOrganization(db: Db, { userId, clientId }: Consent): Promise<string | null> {
  const consents = await db
    .selectFrom("auth.oauthConsent")
    .select("referenceId")
    .where("userId", "=", userId)
    .where("clientId", "=", clientId)
    .execute();
  const memberships = await db
    .selectFrom("auth.member")
    .select("organizationId")
    .where("userId", "=", userId)
    .execute();
  const valid = new Set([EVERY_ORGANIZATION, ...memberships.map(({ organizationId }) => organizationId)]);
  return consents.map(({ referenceId }) => referenceId).find((id) => id !== null && valid.has(id)) ?? null;
}

/** Deletes the consents of a user to an OAuth client for other organizations, so that the last decision counts. */
export async function deleteOtherConsents(db: Db, { userId, clientId }: Consent, organization: string): Promise<void> {
  await db
    .deleteFrom("auth.oauthConsent")
    .where("userId", "=", userId)
    .where("clientId", "=", clientId)
    .where((column) => column.or([column("referenceId", "is", null), column("referenceId", "!=", organization)]))
    .execute();
}
