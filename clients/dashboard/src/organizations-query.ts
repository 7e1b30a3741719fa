import { queryOptions } from "@tanstack/react-query";
import { currentSession, identity } from "./api.ts";

export interface Organization {
  id: string;
  name: string;
}

/** Those that the person is a member of. */
export const organizations = queryOptions({
  queryKey: ["organizations"],
  queryFn: async () => {
    const [mine, session] = await Promise.all([identity<Organization[]>("/organization/list"), currentSession()]);
    const [first] = mine;
    // A session starts in no organization; what is asked without naming one means the session's.
    if (first !== undefined && session?.session.activeOrganizationId == null)
      await identity("/organization/set-active", { organizationId: first.id });
    return mine;
  },
});
