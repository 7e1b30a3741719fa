import { useMutation, useQuery } from "@tanstack/react-query";
import { identity } from "../api.ts";
import { oauthQuery } from "../oauth-query.ts";
import { Button } from "../ui/button.tsx";
import { CardPage } from "../ui/card-page.tsx";
import { Notice, Problem } from "../ui/notice.tsx";

/** What a scope lets a client do, in words for the person who grants it. */
const SCOPES: Readonly<Record<string, string>> = {
  openid: "Know who you are",
  profile: "See your name",
  email: "See your email address",
  offline_access: "Stay connected until you take it back",
  read: "See apps, logs and usage of your organization",
  deploy: "Deploy and delete apps, and call them",
  everything: "Do everything that you may do",
};

export function ConsentPage() {
  const asked = new URLSearchParams(location.search);
  const clientId = asked.get("client_id") ?? "";
  const client = useQuery({
    queryKey: ["client", clientId],
    enabled: clientId !== "",
    queryFn: () => identity<ClientInfo>(`/oauth2/public-client?${new URLSearchParams({ client_id: clientId })}`),
  });
  const answer = useMutation({
    mutationFn: (accept: boolean) =>
      identity<{ url?: string; redirect_uri?: string }>("/oauth2/consent", { accept, oauth_query: oauthQuery() }),
    onSuccess: ({ url, redirect_uri: uri }) => location.assign(url ?? uri ?? "/"),
  });
  const scopes = (asked.get("scope") ?? "").split(" ").filter((scope) => scope !== "");
  const redirect = URL.parse(asked.get("redirect_uri") ?? "");
  if (oauthQuery() === undefined)
    return (
      <CardPage title="Nothing to allow">
        <Notice>This page is where a client asks for access. It was opened without a request.</Notice>
      </CardPage>
    );
  return (
    <CardPage title="Allow access?">
      <Problem error={client.error} />
      <p>
        <strong data-testid="client-name">{client.data?.client_name ?? "A client"}</strong> wants to use this service in
        your name. It gave itself this name; it says it runs at{" "}
        <strong>{redirect?.host || redirect?.protocol || "an unknown address"}</strong>.
      </p>
      <ul className="list-disc space-y-1 pl-5 text-sm">
        {scopes.map((scope) => (
          <li key={scope}>{SCOPES[scope] ?? scope}</li>
        ))}
      </ul>
      <Problem error={answer.error} />
      <div className="flex gap-2">
        <Button look="primary" busy={answer.isPending} onClick={() => answer.mutate(true)}>
          Allow
        </Button>
        <Button busy={answer.isPending} onClick={() => answer.mutate(false)}>
          Deny
        </Button>
      </div>
    </CardPage>
  );
}

interface ClientInfo {
  client_name?: string;
  client_uri?: string;
}
