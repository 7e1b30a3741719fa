import { queryOptions } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import { highestRole, type Role } from "../../../domain/shared/roles.ts";
import { type Api, callIdentity } from "./api.ts";
import type { Organization } from "./organizations-query.ts";

/** The organization that the URL of the page names. Every call of the page names it too. */
export interface PageOrganization extends Organization {
  /** The role of the user. */
  role: Role;
  api: Api;
}

export const OrganizationContext = createContext<PageOrganization | null>(null);

/** Returns the organization of the page. Call it below `PageLayout`. */
export function useOrganization(): PageOrganization {
  const organization = useContext(OrganizationContext);
  if (organization === null) throw new Error("useOrganization: the page has no organization");
  return organization;
}

/** The role of the user in an organization. */
export function roleQuery(organizationId: string) {
  return queryOptions({
    queryKey: ["role", organizationId],
    queryFn: async (): Promise<Role> => {
      const query = new URLSearchParams({ organizationId });
      const { role } = await callIdentity<{ role: string }>(`/organization/get-active-member-role?${query}`);
      return highestRole(role);
    },
  });
}
