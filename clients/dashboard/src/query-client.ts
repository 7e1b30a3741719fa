import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { SignedOut } from "./api.ts";

/** Leaves for the sign-in page, and comes back to this one afterwards. */
function signInAgain(error: Error): void {
  if (!(error instanceof SignedOut) || location.pathname === "/sign-in") return;
  location.assign(`/sign-in?${new URLSearchParams({ next: location.pathname + location.search })}`);
}

export const queries = new QueryClient({
  queryCache: new QueryCache({ onError: signInAgain }),
  mutationCache: new MutationCache({ onError: signInAgain }),
  defaultOptions: { queries: { retry: false, staleTime: 5_000 } },
});
