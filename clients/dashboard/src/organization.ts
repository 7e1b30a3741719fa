import { queryOptions } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import { type Api, callIdentity, getApi } from "./api.ts";
import type { Organization } from "./organizations-query.ts";
import { highestRole, type Role } from "./roles.ts";

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

/** The URL of the start page of an organization. */
export function organizationUrl(id: string): string {
  return `/?${new URLSearchParams({ org: id })}`;
}

/** An organization with the role of the user in it. */
export function pageOrganizationQuery({ id, name }: Organization) {
  return queryOptions({
    queryKey: ["organization", id],
    queryFn: async (): Promise<PageOrganization> => {
      const query = new URLSearchParams({ organizationId: id });
      const { role } = await callIdentity<{ role: string }>(`/organization/get-active-member-role?${query}`);
      return { id, name, role: highestRole(role), api: getApi(id) };
    },
  });
}
