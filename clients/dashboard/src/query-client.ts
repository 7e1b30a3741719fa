import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { SignedOutError } from "./api.ts";

/** Opens the sign-in page, which returns to this page afterwards. */
function redirectToSignIn(error: Error): void {
  if (!(error instanceof SignedOutError) || location.pathname === "/sign-in") return;
  location.assign(`/sign-in?${new URLSearchParams({ next: location.pathname + location.search })}`);
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: redirectToSignIn }),
  mutationCache: new MutationCache({ onError: redirectToSignIn }),
  defaultOptions: { queries: { retry: false, staleTime: 5_000 } },
});
