export interface Invitation {
  id: string;
  status: string;
  expiresAt: string | Date;
}

/**
 * The link with which the invited user accepts an invitation; `null` when it no longer works, because the invitation was
 * accepted, declined or canceled, or has expired. Whoever has the link can accept the invitation: never log or store it.
 */
export function invitationLink(publicUrl: string, { id, status, expiresAt }: Invitation): string | null {
  return status === "pending" && new Date(expiresAt) > new Date() ? `${publicUrl}/invitations/${id}` : null;
}
