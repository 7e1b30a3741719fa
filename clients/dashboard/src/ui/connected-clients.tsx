import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useLocation } from "@tanstack/react-router";
import { type Connection, CONNECTIONS, connectionsQuery } from "../connections-query.ts";
import { useOrganization } from "../organization.ts";
import { ConfirmButton } from "./confirm-button.tsx";
import { EmptyState } from "./empty-state.tsx";
import { ErrorNotice } from "./notice.tsx";
import { Panel } from "./panel.tsx";
import { QueryContent } from "./query-content.tsx";
import { Cell, Row, Table } from "./table.tsx";
import { Timestamp } from "./timestamp.tsx";

/** The OAuth clients that the user has connected, in every organization. */
export function ConnectedClients() {
  const { id: orgId } = useOrganization();
  const connections = useQuery(connectionsQuery(orgId));
  return (
    <Panel title="Connected clients" intro="Programs that you allowed to act on your behalf. They chose their names.">
      <QueryContent query={connections}>
        {(list) => (list.length === 0 ? <NoConnections /> : <ConnectionTable connections={list} />)}
      </QueryContent>
    </Panel>
  );
}

function NoConnections() {
  const { id: orgId } = useOrganization();
  const { pathname } = useLocation();
  return (
    <EmptyState>
      <p>No clients yet. A client that signs in appears here when you have allowed its access.</p>
      {pathname !== "/connect" && (
        <Link to="/connect" search={{ org: orgId }} className="text-link underline">
          Connect a client
        </Link>
      )}
    </EmptyState>
  );
}

function ConnectionTable({ connections }: { connections: Connection[] }) {
  return (
    <Table
      caption="Connected clients"
      columns={["Name", "Host", "Permissions", "Organization", "Last used", "Actions"]}
    >
      {connections.map((connection) => (
        <ConnectionRow key={connection.id} connection={connection} />
      ))}
    </Table>
  );
}

function ConnectionRow({ connection }: { connection: Connection }) {
  const { id, host, scopes, organization, last_used_at: lastUsedAt } = connection;
  const name = connection.name ?? "Unnamed client";
  return (
    <Row>
      <Cell>
        <bdi>{name}</bdi>
      </Cell>
      <Cell>{host ?? "registered here"}</Cell>
      <Cell>{scopes.join(", ")}</Cell>
      <Cell>{organization ?? "all of yours"}</Cell>
      <Cell>
        <Timestamp at={lastUsedAt} />
      </Cell>
      <Cell>
        <RevokeConnection id={id} name={name} />
      </Cell>
    </Row>
  );
}

function RevokeConnection({ id, name }: { id: string; name: string }) {
  const { api } = useOrganization();
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => api.oauthConnections.revoke.mutate({ id }),
    onSuccess: () => client.invalidateQueries({ queryKey: [CONNECTIONS] }),
  });
  return (
    <>
      <ConfirmButton
        label="Revoke"
        accessibleLabel={`Revoke ${name}`}
        question={`Revoke the access of ${name}?`}
        busy={revoke.isPending}
        onConfirm={() => revoke.mutate()}
      >
        The client loses access immediately. To connect again, it must ask for your consent.
      </ConfirmButton>
      <ErrorNotice error={revoke.error} />
    </>
  );
}
