import { useMutation, useQuery } from "@tanstack/react-query";
import { callIdentity } from "../api.ts";
import { readOAuthRequest } from "../after-sign-in.ts";
import { Button } from "../ui/button.tsx";
import { CardPage } from "../ui/card-page.tsx";
import { Notice, ErrorNotice } from "../ui/notice.tsx";
import { RedirectNotice } from "../ui/redirect-notice.tsx";

/** What each scope permits, for the user who grants it. */
const PERMISSIONS: Readonly<Record<string, string>> = {
  openid: "See your user id",
  profile: "See your name",
  email: "See your email address",
  offline_access: "Stay connected until you revoke access",
  read: "Read the apps, logs and usage of your organization",
  deploy: "Deploy apps",
  everything: "Do everything that you can do",
};

export function ConsentPage() {
  const query = new URLSearchParams(location.search);
  const clientId = query.get("client_id") ?? "";
  const client = useQuery({
    queryKey: ["client", clientId],
    enabled: clientId !== "",
    queryFn: () => callIdentity<PublicClient>(`/oauth2/public-client?${new URLSearchParams({ client_id: clientId })}`),
  });
  const decision = useMutation({
    mutationFn: (accept: boolean) =>
      callIdentity<{ url?: string; redirect_uri?: string }>("/oauth2/consent", {
        accept,
        oauth_query: readOAuthRequest(),
      }),
    onSuccess: ({ url, redirect_uri: uri }) => location.assign(url ?? uri ?? "/"),
  });
  const scopes = (query.get("scope") ?? "").split(" ").filter((scope) => scope !== "");
  if (readOAuthRequest() === undefined)
    return (
      <CardPage title="No request to allow">
        <Notice>A client opens this page to request access. This request is missing or incomplete.</Notice>
      </CardPage>
    );
  return (
    <CardPage title="Allow access?">
      <ErrorNotice error={client.error} />
      <ClientDescription
        clientId={clientId}
        name={client.data?.client_name}
        redirect={query.get("redirect_uri") ?? ""}
      />
      <ul className="list-disc space-y-1 pl-5 text-sm">
        {scopes.map((scope) => (
          <li key={scope}>{PERMISSIONS[scope] ?? scope}</li>
        ))}
      </ul>
      <ErrorNotice error={decision.error} />
      <div className="flex gap-2">
        <Button variant="primary" busy={decision.isPending} onClick={() => decision.mutate(true)}>
          Allow
        </Button>
        <Button busy={decision.isPending} onClick={() => decision.mutate(false)}>
          Deny
        </Button>
      </div>
    </CardPage>
  );
}

/**
 * Shows the host of a client's metadata document first, because only its owner can publish there. The client chooses its
 * name itself, so the name is always marked as such and cannot change the text around it.
 */
function ClientDescription({
  clientId,
  name,
  redirect,
}: {
  clientId: string;
  name: string | undefined;
  redirect: string;
}) {
  // The id of a registered client is not a URL.
  const publisher = URL.parse(clientId)?.host;
  const clientName = (
    <strong data-testid="client-name">
      <bdi>{name ?? "A client"}</bdi>
    </strong>
  );
  return (
    <div className="space-y-3 break-words">
      {publisher === undefined ? (
        <p>{clientName} requests access to this service on your behalf. The client chose this name itself.</p>
      ) : (
        <p>
          A client from{" "}
          <strong data-testid="client-host" className="text-lg">
            {publisher}
          </strong>{" "}
          requests access to this service on your behalf. It calls itself “{clientName}”.
        </p>
      )}
      <RedirectNotice redirect={redirect} />
    </div>
  );
}

interface PublicClient {
  client_name?: string;
}
