import { Link, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useOrganization } from "../../organization.ts";
import { ConnectedClients } from "../../ui/connected-clients.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { Panel } from "../../ui/panel.tsx";
import { ClientToken } from "./client-token.tsx";
import { CONNECT_CLIENTS, type ConnectClient } from "./clients.ts";
import { SetupSteps } from "./client-setup.tsx";
import { TestConnection } from "./test-connection.tsx";

/** How each MCP client is connected to this installation, a test, and the clients that are connected. */
export function ConnectPage() {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const [first] = CONNECT_CLIENTS;
  const client = CONNECT_CLIENTS.find(({ id }) => id === search["client"]) ?? first;
  // By the id of the client. A token is shown only until the page is left.
  const [tokens, setTokens] = useState<Readonly<Record<string, string>>>({});
  if (client === undefined) return null;
  const token = tokens[client.id] ?? null;
  const gateway = { origin: location.origin, token };
  return (
    <>
      <PageHeader title="Connect" details={<GatewayUrl />} />
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-5 lg:grid-cols-[15rem_minmax(0,1fr)]">
        <ClientList selected={client} />
        <Panel title={client.title}>
          <SetupSteps steps={client.steps(gateway)} />
          <ClientToken
            key={client.id}
            client={client}
            token={token}
            onCreated={(created) => setTokens((all) => ({ ...all, [client.id]: created }))}
          />
        </Panel>
      </div>
      <TestConnection created={token} />
      <ConnectedClients />
    </>
  );
}

function GatewayUrl() {
  const url = `${location.origin}/mcp`;
  return (
    <>
      <span>The tool gateway of this installation:</span>
      <span className="inline-flex min-w-0 items-center gap-1">
        <code className="wrap-anywhere text-ink">{url}</code>
        <CopyButton text={url} of="URL of the gateway" />
      </span>
    </>
  );
}

/** One card for each client. The URL names the selected one. */
function ClientList({ selected }: { selected: ConnectClient }) {
  const { id: orgId } = useOrganization();
  return (
    <nav aria-label="Clients">
      <ul className="grid grid-cols-2 gap-2 sm:grid-cols-3 lg:grid-cols-1 lg:gap-1">
        {CONNECT_CLIENTS.map(({ id, title, summary }) => (
          <li key={id}>
            <Link
              to="/connect"
              search={{ org: orgId, client: id }}
              replace
              resetScroll={false}
              aria-current={id === selected.id ? "true" : undefined}
              className={`flex min-h-9 items-baseline justify-between gap-2 rounded-md border px-3 py-2 max-lg:flex-col max-lg:gap-0 ${id === selected.id ? "border-line-strong bg-selected" : "border-line bg-surface hover:bg-hover"}`}
            >
              <span className="font-medium">{title}</span>
              <span className="text-xs text-muted">{summary}</span>
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
