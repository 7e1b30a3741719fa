import { queryOptions } from "@tanstack/react-query";

/** How people get in here: known before anybody is. */
export interface SignInOptions {
  /** Whether nobody has signed up yet: the first person owns the first organization. */
  first_run: boolean;
  sign_up: "open" | "invite" | "closed";
  providers: ("github" | "google")[];
}

export const signInOptions = queryOptions({
  queryKey: ["sign-in-options"],
  queryFn: async (): Promise<SignInOptions> => {
    const response = await fetch("/api/sign-in-options");
    if (!response.ok) throw new Error("the sign-in options cannot be read");
    return (await response.json()) as SignInOptions;
  },
});
