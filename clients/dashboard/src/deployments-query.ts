import { queryOptions } from "@tanstack/react-query";
import { type Api, getApi } from "./api.ts";

export type Deployment = Awaited<ReturnType<Api["deployments"]["list"]["query"]>>["deployments"][number];

/** The newest deployments of an app. */
export function deploymentsQuery(organizationId: string, appId: string) {
  return queryOptions({
    queryKey: ["app", organizationId, appId, "deployments"],
    queryFn: () => getApi(organizationId).deployments.list.query({ id: appId }),
  });
}
