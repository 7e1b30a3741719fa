import { randomUUID } from "node:crypto";
import { ServiceError } from "../shared/errors.ts";
import { queryBuilderOf, type SqlTransaction } from "../database-types.ts";

const INVITATION_MS = 30 * 86_400_000;

/**
 * Invites the person who is to own an organization that an operator set up. Whoever knows the id, and signs up with
 * the address, takes the placeholder's place.
 *
 * @throws {ServiceError} `invalid` for an address that is not one
 */
export async function inviteOwner(
  em: SqlTransaction,
  { orgId, placeholderId, email }: { orgId: string; placeholderId: string; email: string },
): Promise<{ invitation_id: string }> {
  if (!/^[^\s@]{1,64}@[^\s@]{1,190}$/.test(email))
    throw new ServiceError("invalid", "The owner needs an e-mail address, such as ada@example.com.");
  const invitation = {
    ...{ id: randomUUID(), organizationId: orgId, inviterId: placeholderId, email: email.toLowerCase() },
    ...{ role: "owner", status: "pending", expiresAt: new Date(Date.now() + INVITATION_MS).toISOString() },
  };
  await queryBuilderOf(em).insertInto("auth.invitation").values(invitation).execute();
  return { invitation_id: invitation.id };
}
