import { queryOptions } from "@tanstack/react-query";
import { callIdentity } from "./api.ts";

export interface Invitation {
  id: string;
  email: string;
  role: string;
  status: string;
  expiresAt: string;
  /** `null` when the invitation can no longer be accepted. */
  link: string | null;
}

export const INVITATIONS = "invitations";

/** The invitations of an organization that are neither accepted nor canceled. Requires the role admin. */
export function invitationsQuery(organizationId: string) {
  const query = new URLSearchParams({ organizationId });
  return queryOptions({
    queryKey: [INVITATIONS, organizationId],
    queryFn: () => callIdentity<Invitation[]>(`/organization/list-invitations?${query}`),
    select: (all) => all.filter(({ status }) => status === "pending"),
  });
}
