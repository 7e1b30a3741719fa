import type { QueryClient } from "@tanstack/react-query";
import { clearAccessToken } from "./api.ts";
import { organizationsQuery } from "./organizations-query.ts";
import { sessionQuery } from "./session-query.ts";

/** Reloads what depends on the memberships of the user. Call it when they change, before you open another page. */
export async function reloadMemberships(client: QueryClient): Promise<void> {
  clearAccessToken();
  await Promise.all([
    client.fetchQuery({ ...sessionQuery, staleTime: 0 }),
    client.fetchQuery({ ...organizationsQuery, staleTime: 0 }),
  ]);
}
