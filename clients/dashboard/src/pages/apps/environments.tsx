import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ExternalLink } from "lucide-react";
import { type Environment, environmentsQuery } from "../../environments-query.ts";
import { useOrganization } from "../../organization.ts";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { Cell, Row, Table } from "../../ui/table.tsx";
import { useApp } from "./app-context.ts";
import { NewEnvironment } from "./new-environment.tsx";
import { Promote } from "./promote.tsx";

/** The environments of an app, also on the page of each of them. */
export function EnvironmentsTab() {
  const { id: orgId } = useOrganization();
  const { id } = useApp();
  const environments = useQuery(environmentsQuery(orgId, id));
  return (
    <Panel
      title="Environments"
      intro="Each environment is an app with its own branch, variables, URL and database. Promote one to give its code to production, without a build."
    >
      <QueryContent query={environments}>
        {([production, ...others]) => (
          <>
            {production !== undefined && <EnvironmentTable production={production} others={others} />}
            {production !== undefined && <NewEnvironment production={production} />}
          </>
        )}
      </QueryContent>
    </Panel>
  );
}

const COLUMNS = ["Environment", "Status", "Live commit", "Branch", "Actions"];

function EnvironmentTable({ production, others }: { production: Environment; others: readonly Environment[] }) {
  return (
    <Table caption="Environments" columns={COLUMNS}>
      {[production, ...others].map((environment) => (
        <Row key={environment.app_id}>
          <Cell>
            <EnvironmentLink environment={environment} />
          </Cell>
          <Cell>
            <StatusBadge status={environment.status} />
          </Cell>
          <Cell>
            <code>{environment.live_commit?.slice(0, 7) ?? "none"}</code>
          </Cell>
          <Cell>{environment.branch ?? "uploaded"}</Cell>
          <Cell>
            <span className="inline-flex flex-wrap items-center gap-2">
              <OpenLink environment={environment} />
              {environment !== production && <Promote environment={environment} production={production} />}
            </span>
          </Cell>
        </Row>
      ))}
    </Table>
  );
}

function EnvironmentLink({ environment: { app_id: id, name } }: { environment: Environment }) {
  const { id: orgId } = useOrganization();
  const app = useApp();
  if (id === app.id) return <span className="font-medium">{name}</span>;
  return (
    <Link to="/apps/$id" params={{ id }} search={{ org: orgId }} className="font-medium text-link underline">
      {name}
    </Link>
  );
}

function OpenLink({ environment: { name, url, live_deployment: live } }: { environment: Environment }) {
  if (live === null) return null;
  return (
    <a href={url} target="_blank" rel="noreferrer" className="inline-flex items-center gap-1 text-link underline">
      Open
      <ExternalLink aria-hidden className="size-4" />
      <span className="sr-only">{name} in a new tab</span>
    </a>
  );
}
