import { queryOptions } from "@tanstack/react-query";
import { type Api, getApi } from "./api.ts";

export type Token = Awaited<ReturnType<Api["tokens"]["list"]["query"]>>["tokens"][number];

export const TOKENS = "tokens";

/** The tokens that the user may manage in an organization. */
export function tokensQuery(organizationId: string) {
  return queryOptions({
    queryKey: [TOKENS, organizationId],
    queryFn: () => getApi(organizationId).tokens.list.query(),
    select: ({ tokens }) => tokens,
  });
}
