import { queryOptions } from "@tanstack/react-query";
import { callIdentity, getSession } from "./api.ts";

export interface Organization {
  id: string;
  name: string;
}

/** The organizations of the user. Makes the first one active when the session has no active organization. */
export const organizationsQuery = queryOptions({
  queryKey: ["organizations"],
  queryFn: async () => {
    const [organizations, session] = await Promise.all([
      callIdentity<Organization[]>("/organization/list"),
      getSession(),
    ]);
    const [first] = organizations;
    // A new session has no active organization, and requests without an organization id use the active one.
    if (first !== undefined && session?.session.activeOrganizationId == null)
      await callIdentity("/organization/set-active", { organizationId: first.id });
    return organizations;
  },
});
