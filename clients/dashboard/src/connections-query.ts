import { queryOptions } from "@tanstack/react-query";
import { type Api, getApi } from "./api.ts";

export type Connection = Awaited<ReturnType<Api["oauthConnections"]["list"]["query"]>>["connections"][number];

export const CONNECTIONS = "oauth-connections";

/** The OAuth clients that the user has connected, in every organization. */
export function connectionsQuery(organizationId: string) {
  return queryOptions({
    queryKey: [CONNECTIONS],
    queryFn: () => getApi(organizationId).oauthConnections.list.query(),
    select: ({ connections }) => connections,
  });
}
