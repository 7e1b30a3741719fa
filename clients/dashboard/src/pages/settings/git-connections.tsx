import { useQuery } from "@tanstack/react-query";
import { useOrganization } from "../../organization.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { PageTitle } from "../../ui/page-header.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { RequireRole } from "../../ui/require-role.tsx";
import { Table } from "../../ui/table.tsx";
import { AddGitConnection } from "./add-git-connection.tsx";
import { GitConnectionRow } from "./git-connection-row.tsx";
import { gitConnectionsQuery } from "./git-connections-query.ts";

const COLUMNS = ["Host", "Repositories", "Accepted", "Created", "Actions"];

/** The git hosts from which the organization deploys private repositories. */
export function GitConnectionsPage() {
  return (
    <>
      <PageTitle>Git connections</PageTitle>
      <Panel
        title="Connected git hosts"
        intro="Private repositories, and those of other git hosts, are deployed with a token or a GitHub App. The service authenticates outside of the sandbox, so no build can read the credential."
      >
        <GitConnectionList />
      </Panel>
      <Panel title="Connect a git host">
        <RequireRole role="admin" to="connect git hosts">
          <AddGitConnection />
        </RequireRole>
      </Panel>
    </>
  );
}

function GitConnectionList() {
  const { id: orgId } = useOrganization();
  const connections = useQuery(gitConnectionsQuery(orgId));
  return (
    <QueryContent query={connections}>
      {(all) =>
        all.length === 0 ? (
          <EmptyState>
            <p>No git connections yet. Public repositories need none.</p>
          </EmptyState>
        ) : (
          <Table caption="Git connections" columns={COLUMNS}>
            {all.map((connection) => (
              <GitConnectionRow key={connection.id} connection={connection} />
            ))}
          </Table>
        )
      }
    </QueryContent>
  );
}
