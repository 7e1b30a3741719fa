import { useMutation, useQuery } from "@tanstack/react-query";
import { identity } from "../api.ts";
import { oauthQuery } from "../after-sign-in.ts";
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
  if (oauthQuery() === undefined)
    return (
      <CardPage title="Nothing to allow">
        <Notice>This page is where a client asks for access. It was opened without a request.</Notice>
      </CardPage>
    );
  return (
    <CardPage title="Allow access?">
      <Problem error={client.error} />
      <WhoAsks clientId={clientId} name={client.data?.client_name} redirect={asked.get("redirect_uri") ?? ""} />
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

/**
 * The host at which a client publishes itself comes first, since nobody else could have put it there. A name is what
 * the client makes of itself, so it never stands alone and cannot run into the words around it.
 */
function WhoAsks({ clientId, name, redirect }: { clientId: string; name: string | undefined; redirect: string }) {
  // Ids that the service gives away are no URLs.
  const publisher = URL.parse(clientId)?.host;
  const back = URL.parse(redirect);
  const ownName = (
    <strong data-testid="client-name">
      <bdi>{name ?? "A client"}</bdi>
    </strong>
  );
  return (
    <div className="space-y-3 break-words">
      {publisher === undefined ? (
        <p>{ownName} wants to use this service in your name. It gave itself this name.</p>
      ) : (
        <p>
          A client of{" "}
          <strong data-testid="client-host" className="text-lg">
            {publisher}
          </strong>{" "}
          wants to use this service in your name. It calls itself “{ownName}”.
        </p>
      )}
      <p>
        You will be sent back to <strong>{back?.host || back?.protocol || "an unknown address"}</strong>.
        {back !== null &&
          LOOPBACK.test(back.host) &&
          " That is a program on your own device: allow it only if you have just started it."}
      </p>
    </div>
  );
}

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

interface ClientInfo {
  client_name?: string;
}
