import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { callIdentity, getSession } from "../api.ts";
import { readOAuthRequest } from "../after-sign-in.ts";
import { organizationsQuery } from "../organizations-query.ts";
import { describePermissions } from "../permissions.ts";
import { Button } from "../ui/button.tsx";
import { CardPage } from "../ui/card-page.tsx";
import { CreateOrganizationForm } from "../ui/create-organization-form.tsx";
import { Select } from "../ui/field.tsx";
import { Notice, ErrorNotice } from "../ui/notice.tsx";

export function ConsentPage() {
  const query = new URLSearchParams(location.search);
  const clientId = query.get("client_id") ?? "";
  const client = useQuery({
    queryKey: ["client", clientId],
    enabled: clientId !== "",
    queryFn: () => callIdentity<PublicClient>(`/oauth2/public-client?${new URLSearchParams({ client_id: clientId })}`),
  });
  const permissions = describePermissions(query);
  const organization = useOrganizationChoice();
  const decision = useMutation({
    mutationFn: (accept: boolean) =>
      callIdentity<{ url?: string; redirect_uri?: string }>("/oauth2/consent", {
        accept,
        oauth_query: readOAuthRequest(),
        ...(permissions.service.length > 0 && organization.id !== "" && { organizationId: organization.id }),
      }),
    onSuccess: ({ url, redirect_uri: uri }) => location.assign(url ?? uri ?? "/"),
  });
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
      <Account />
      {permissions.service.length > 0 && organization.field}
      <PermissionList title="The client may:" permissions={permissions.service} />
      <PermissionList title="It may also:" permissions={permissions.identity} />
      <ErrorNotice error={decision.error ?? organization.error} />
      <div className="flex gap-2">
        <Button
          look="primary"
          busy={decision.isPending}
          disabled={permissions.service.length > 0 && !organization.isReady}
          onClick={() => decision.mutate(true)}
        >
          Allow
        </Button>
        <Button busy={decision.isPending} onClick={() => decision.mutate(false)}>
          Deny
        </Button>
      </div>
    </CardPage>
  );
}

/** The account whose permissions the client gets. */
function Account() {
  const { data: session, error } = useQuery({ queryKey: ["session"], queryFn: getSession });
  if (session === undefined || session === null) return <ErrorNotice error={error} />;
  const { name, email } = session.user;
  return (
    <p className="break-words" data-testid="account">
      You are signed in as <bdi>{name}</bdi> (<strong>{email}</strong>).
    </p>
  );
}

/** Lets the user choose the organization in which the client may act. The value for all organizations is empty. */
function useOrganizationChoice() {
  const organizations = useQuery(organizationsQuery);
  const session = useQuery({ queryKey: ["session"], queryFn: getSession });
  const [chosen, setChosen] = useState<string | null>(null);
  const list = organizations.data ?? [];
  const [first] = list;
  const active = list.find(({ id }) => id === session.data?.session.activeOrganizationId) ?? first;
  const id = chosen ?? active?.id ?? "";
  const options = list.map((organization) => [organization.id, organization.name] as const);
  const field =
    organizations.data?.length === 0 ? (
      <CreateOrganizationForm first next={location.href} />
    ) : (
      <Select
        label="Organization"
        hint="The client may act in this organization. Your role in it limits what the client may do."
        value={id}
        onChange={(event) => setChosen(event.currentTarget.value)}
        options={list.length > 1 ? [...options, ["", "All of my organizations"]] : options}
      />
    );
  return { id, field, isReady: first !== undefined && session.data != null, error: organizations.error };
}

function PermissionList({ title, permissions }: { title: string; permissions: string[] }) {
  if (permissions.length === 0) return null;
  return (
    <div className="space-y-1 text-sm">
      <p>{title}</p>
      <ul className="list-disc space-y-1 pl-5">
        {permissions.map((permission) => (
          <li key={permission}>{permission}</li>
        ))}
      </ul>
    </div>
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
  const redirectUrl = URL.parse(redirect);
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
      <p>
        You will be redirected to <strong>{redirectUrl?.host || redirectUrl?.protocol || "an unknown address"}</strong>.
        {redirectUrl !== null &&
          LOOPBACK.test(redirectUrl.host) &&
          " This is a program on your device. Allow access only if you have just started it."}
      </p>
    </div>
  );
}

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

interface PublicClient {
  client_name?: string;
}
