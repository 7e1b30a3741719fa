import { useMutation } from "@tanstack/react-query";
import { identity } from "../api.ts";
import { oauthQuery } from "../oauth-query.ts";
import { Button } from "./button.tsx";
import { Problem } from "./notice.tsx";

const NAMES = { github: "GitHub", google: "Google" } as const;

export function SocialButtons({ providers }: { providers: readonly (keyof typeof NAMES)[] }) {
  const signIn = useMutation({
    mutationFn: (provider: string) =>
      identity<{ url: string }>("/sign-in/social", { provider, callbackURL: "/", oauth_query: oauthQuery() }),
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
