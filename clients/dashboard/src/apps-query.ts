import { queryOptions } from "@tanstack/react-query";
import { isInProgress } from "../../../domain/apps/app-status.ts";
import { type Api, getApi } from "./api.ts";

export type App = Awaited<ReturnType<Api["apps"]["list"]["query"]>>["apps"][number];
export type AppDetail = Awaited<ReturnType<Api["apps"]["get"]["query"]>>;

/** Every app of an organization, newest first. */
export function appsQuery(organizationId: string) {
  return queryOptions({
    queryKey: ["apps", organizationId],
    queryFn: async () => (await getApi(organizationId).apps.list.query()).apps,
  });
}

export function appQuery(organizationId: string, id: string) {
  return queryOptions({
    queryKey: ["app", organizationId, id],
    queryFn: () => getApi(organizationId).apps.get.query({ id }),
  });
}

/** Whether the status of an app or a deployment changes by itself. */
export function isChanging(status: string): boolean {
  return isInProgress(status) || status === "deleting";
}
