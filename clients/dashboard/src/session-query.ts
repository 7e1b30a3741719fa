import { queryOptions } from "@tanstack/react-query";
import { getSession } from "./api.ts";

/** The session of the user; `null` when no user is signed in. */
export const sessionQuery = queryOptions({ queryKey: ["session"], queryFn: getSession });
