import { useMutation } from "@tanstack/react-query";
import { identity } from "../api.ts";
import { broughtAlong, oauthQuery, wantedPage } from "../after-sign-in.ts";
import { Button } from "./button.tsx";
import { Problem } from "./notice.tsx";

const NAMES = { github: "GitHub", google: "Google" } as const;

interface Props {
  providers: readonly (keyof typeof NAMES)[];
  /** The page to come back to; by default the one that the person wanted. */
  next?: string | undefined;
}

export function SocialButtons({ providers, next = wantedPage() }: Props) {
  const signIn = useMutation({
    mutationFn: (provider: string) =>
      identity<{ url: string }>("/sign-in/social", {
        ...{ provider, callbackURL: next, oauth_query: oauthQuery() },
        errorCallbackURL: `/sign-in?${broughtAlong().toString()}`,
      }),
    onSuccess: ({ url }) => location.assign(url),
  });
  if (providers.length === 0) return null;
  return (
    <div className="space-y-2">
      {providers.map((provider) => (
        <Button key={provider} className="w-full" busy={signIn.isPending} onClick={() => signIn.mutate(provider)}>
          Continue with {NAMES[provider]}
        </Button>
      ))}
      <Problem error={signIn.error} />
    </div>
  );
}
