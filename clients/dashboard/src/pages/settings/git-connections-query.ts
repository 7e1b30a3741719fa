import { queryOptions } from "@tanstack/react-query";
import { type Api, getApi } from "../../api.ts";

export type GitConnection = Awaited<ReturnType<Api["gitConnections"]["list"]["query"]>>["git_connections"][number];
export type NewGitConnection = Parameters<Api["gitConnections"]["create"]["mutate"]>[0];
export type GitHostKind = NewGitConnection["kind"];

export const GIT_CONNECTIONS = "git-connections";

/** The git hosts that the organization has connected, oldest first. */
export function gitConnectionsQuery(organizationId: string) {
  return queryOptions({
    queryKey: [GIT_CONNECTIONS, organizationId],
    queryFn: () => getApi(organizationId).gitConnections.list.query(),
    select: ({ git_connections }) => git_connections,
  });
}
