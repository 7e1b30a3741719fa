import { queryOptions } from "@tanstack/react-query";
import { type Api, getApi } from "./api.ts";

export type Environment = Awaited<ReturnType<Api["environments"]["list"]["query"]>>["environments"][number];

/** The environments of an app, production first. Every event of the organization refreshes them. */
export function environmentsQuery(organizationId: string, id: string) {
  return queryOptions({
    queryKey: ["environments", organizationId, id],
    queryFn: async () => (await getApi(organizationId).environments.list.query({ id })).environments,
  });
}
