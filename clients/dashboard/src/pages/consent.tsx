import { useMutation, useQuery } from "@tanstack/react-query";
import { callIdentity } from "../api.ts";
import { readOAuthRequest } from "../after-sign-in.ts";
import { EVERY_ORGANIZATION, useOrganizationChoice } from "../organization-choice.tsx";
import { describePermissions } from "../permissions.ts";
import { Button } from "../ui/button.tsx";
import { CardPage } from "../ui/card-page.tsx";
import { CreateOrganizationForm } from "../ui/create-organization-form.tsx";
import { Notice, ErrorNotice } from "../ui/notice.tsx";
import { PermissionList } from "../ui/permission-list.tsx";
import { QueryContent } from "../ui/query-content.tsx";
import { RedirectNotice } from "../ui/redirect-notice.tsx";
import { SignedInAccount } from "../ui/signed-in-account.tsx";

export function ConsentPage() {
  if (readOAuthRequest() !== undefined) return <ConsentRequest query={new URLSearchParams(location.search)} />;
  return (
    <CardPage title="No request to allow">
      <Notice>A client opens this page to request access. This request is missing or incomplete.</Notice>
    </CardPage>
  );
}

function ConsentRequest({ query }: { query: URLSearchParams }) {
  const clientId = query.get("client_id") ?? "";
  const client = useQuery({
    queryKey: ["client", clientId],
    queryFn: () => callIdentity<PublicClient>(`/oauth2/public-client?${new URLSearchParams({ client_id: clientId })}`),
  });
  const { identity, service } = describePermissions(query);
  return (
    <CardPage title="Allow access?">
      <QueryContent query={client}>
        {({ client_name: name }) => (
          <>
            <ClientDescription clientId={clientId} name={name} redirect={query.get("redirect_uri") ?? ""} />
            <SignedInAccount />
            <PermissionList title="The client may:" permissions={service} />
            <PermissionList title="It may also:" permissions={identity} />
            {service.length > 0 ? <OrganizationDecision /> : <Decision fields={{}} />}
          </>
        )}
      </QueryContent>
    </CardPage>
  );
}

/** The decision about a client that may act in an organization. */
function OrganizationDecision() {
  const { id, query, field } = useOrganizationChoice();
  return (
    <QueryContent query={query}>
      {(organizations) =>
        organizations.length === 0 ? (
          <CreateOrganizationForm first opensOrganization={false} />
        ) : (
          <>
            {field}
            <Decision fields={id === EVERY_ORGANIZATION ? {} : { organizationId: id }} />
          </>
        )
      }
    </QueryContent>
  );
}

/** @param props.fields - further fields of the decision */
function Decision({ fields }: { fields: { organizationId?: string } }) {
  const decision = useMutation({
    mutationFn: (accept: boolean) =>
      callIdentity<{ url?: string; redirect_uri?: string }>("/oauth2/consent", {
        accept,
        oauth_query: readOAuthRequest(),
        ...fields,
      }),
    onSuccess: ({ url, redirect_uri: uri }) => location.assign(url ?? uri ?? "/"),
  });
  return (
    <>
      <ErrorNotice error={decision.error} />
      <div className="flex gap-2">
        <Button variant="primary" busy={decision.isPending} onClick={() => decision.mutate(true)}>
          Allow
        </Button>
        <Button busy={decision.isPending} onClick={() => decision.mutate(false)}>
          Deny
        </Button>
      </div>
    </>
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
