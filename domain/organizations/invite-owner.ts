import { randomUUID } from "node:crypto";
import { ServiceError } from "../shared/errors.ts";
import { queryBuilderOf, type SqlTransaction } from "../database-types.ts";

const INVITATION_TTL_MS = 30 * 86_400_000;
const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,190}$/;

/**
 * Invites the owner of an organization that an operator created, in the transaction of `em`. A user who knows the id of
 * the invitation and signs up with the email address replaces the placeholder owner.
 *
 * @throws {ServiceError} `invalid` for an invalid email address
 */
export async function inviteOwner(
  em: SqlTransaction,
  { orgId, placeholderId, email }: { orgId: string; placeholderId: string; email: string },
): Promise<{ invitation_id: string }> {
  if (!EMAIL.test(email))
    throw new ServiceError("invalid", "Invalid email address of the owner. Example: ada@example.com.");
  const invitation = {
    id: randomUUID(),
    organizationId: orgId,
    inviterId: placeholderId,
    email: email.toLowerCase(),
    role: "owner",
    status: "pending",
    expiresAt: new Date(Date.now() + INVITATION_TTL_MS).toISOString(),
  };
  await queryBuilderOf(em).insertInto("auth.invitation").values(invitation).execute();
  return { invitation_id: invitation.id };
}
