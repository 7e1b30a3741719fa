import { queryOptions } from "@tanstack/react-query";

/** What the sign-in pages show before a user is signed in. */
export interface SignInOptions {
  /** Whether no user has signed up yet. The first user owns the first organization. */
  first_run: boolean;
  sign_up: "open" | "invite" | "closed";
  providers: ("github" | "google")[];
}

export const signInOptionsQuery = queryOptions({
  queryKey: ["sign-in-options"],
  queryFn: async (): Promise<SignInOptions> => {
    const response = await fetch("/api/sign-in-options");
    if (!response.ok) throw new Error(`GET /api/sign-in-options failed with status ${response.status}`);
    return (await response.json()) as SignInOptions;
  },
});
