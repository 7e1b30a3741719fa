import { queryOptions } from "@tanstack/react-query";
import { getApi } from "./api.ts";

/** The settings of an organization, and what the service offers to it. */
export function organizationSettingsQuery(organizationId: string) {
  return queryOptions({
    queryKey: ["organization", organizationId],
    queryFn: () => getApi(organizationId).organization.get.query(),
  });
}
