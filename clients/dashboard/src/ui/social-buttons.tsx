import { useMutation } from "@tanstack/react-query";
import { callIdentity } from "../api.ts";
import { queryWithoutError, readOAuthRequest, readNextPage } from "../after-sign-in.ts";
import { Button } from "./button.tsx";
import { ErrorNotice } from "./notice.tsx";

export const PROVIDER_NAMES = { github: "GitHub", google: "Google" } as const;

interface Props {
  providers: readonly (keyof typeof PROVIDER_NAMES)[];
  /** The page to open after the sign-in; by default the page that the user requested before it. */
  next?: string | undefined;
}

export function SocialButtons({ providers, next = readNextPage() }: Props) {
  const signIn = useMutation({
    mutationFn: (provider: string) =>
      callIdentity<{ url: string }>("/sign-in/social", {
        provider,
        callbackURL: next,
        oauth_query: readOAuthRequest(),
        errorCallbackURL: `/sign-in?${queryWithoutError().toString()}`,
      }),
    onSuccess: ({ url }) => location.assign(url),
  });
  if (providers.length === 0) return null;
  return (
    <div className="space-y-2">
      {providers.map((provider) => (
        <Button key={provider} className="w-full" busy={signIn.isPending} onClick={() => signIn.mutate(provider)}>
          Continue with {PROVIDER_NAMES[provider]}
        </Button>
      ))}
      <ErrorNotice error={signIn.error} />
    </div>
  );
}
