import { queryOptions } from "@tanstack/react-query";
import { callIdentity } from "./api.ts";

export interface Organization {
  id: string;
  name: string;
}

/** The organizations of the user. */
export const organizationsQuery = queryOptions({
  queryKey: ["organizations"],
  queryFn: () => callIdentity<Organization[]>("/organization/list"),
});
