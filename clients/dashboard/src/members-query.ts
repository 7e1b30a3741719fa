import { queryOptions } from "@tanstack/react-query";
import { callIdentity } from "./api.ts";

export interface Member {
  id: string;
  userId: string;
  role: string;
  createdAt: string;
  user: { name: string; email: string };
}

export const MEMBERS = "members";

/** The members of an organization. */
export function membersQuery(organizationId: string) {
  const query = new URLSearchParams({ organizationId, limit: "100" });
  return queryOptions({
    queryKey: [MEMBERS, organizationId],
    queryFn: () => callIdentity<{ members: Member[] }>(`/organization/list-members?${query}`),
    select: ({ members }) => members,
  });
}
