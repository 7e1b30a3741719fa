import { getAccessToken } from "./api.ts";
import { roleQuery } from "./organization.ts";
import { organizationsQuery } from "./organizations-query.ts";
import { queryClient } from "./query-client.ts";
import { router } from "./router.tsx";
import { sessionQuery } from "./session-query.ts";

/** Errors are left to those who need the data: the user may have to sign up first. */
const meta = { isPrefetch: true };

/**
 * Requests at once what the first page needs, instead of one after the other: on a slow network, each takes half a second.
 */
export function prefetchPage(): void {
  const matches: readonly { routeId: string }[] = router.matchRoutes(router.latestLocation);
  const routes: Readonly<Record<string, { options: { component?: unknown } } | undefined>> = router.routesById;
  for (const { routeId } of matches) {
    const component = routes[routeId]?.options.component as { preload?: () => Promise<void> } | undefined;
    void component?.preload?.();
  }
  if (!matches.some(({ routeId }) => routeId === "/layout")) return;
  void queryClient.prefetchQuery({ ...sessionQuery, meta });
  void queryClient.prefetchQuery({ ...organizationsQuery, meta });
  const organizationId = new URLSearchParams(location.search).get("org");
  if (organizationId !== null) void queryClient.prefetchQuery({ ...roleQuery(organizationId), meta });
  getAccessToken().catch(() => undefined);
}
