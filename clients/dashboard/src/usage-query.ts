import { queryOptions } from "@tanstack/react-query";
import { type Api, getApi } from "./api.ts";

export type Usage = Awaited<ReturnType<Api["usage"]["get"]["query"]>>;

/** The plan of an organization and what is left of it. */
export function usageQuery(organizationId: string) {
  return queryOptions({
    queryKey: ["usage", organizationId],
    queryFn: () => getApi(organizationId).usage.get.query({}),
  });
}
