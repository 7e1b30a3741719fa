import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { SignedOutError } from "./api.ts";

/** Opens the sign-in page, which returns to this page afterwards. */
export function redirectToSignIn(error: Error): void {
  if (!(error instanceof SignedOutError) || location.pathname === "/sign-in") return;
  location.assign(`/sign-in?${new URLSearchParams({ next: location.pathname + location.search })}`);
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { meta }) => {
      if (meta?.["isPrefetch"] !== true) redirectToSignIn(error);
    },
  }),
  mutationCache: new MutationCache({ onError: redirectToSignIn }),
  // The service may run on this device, which then needs no network to reach it.
  defaultOptions: {
    queries: { retry: false, staleTime: 5_000, networkMode: "always" },
    mutations: { networkMode: "always" },
  },
});
