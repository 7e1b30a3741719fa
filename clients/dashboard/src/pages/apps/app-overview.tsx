import { useQuery } from "@tanstack/react-query";
import { type Deployment, deploymentsQuery } from "../../deployments-query.ts";
import { useOrganization } from "../../organization.ts";
import { Fact, FactList } from "../../ui/definition-list.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { DailyUsage } from "../usage/daily-usage.tsx";
import { useApp } from "./app-context.ts";
import { DeploymentLink, DeploymentList } from "./deployment-list.tsx";
import { StatusMessage } from "./status-message.tsx";

/** What is live, and the newest deployments. */
export function AppOverview() {
  const app = useApp();
  const { id: orgId } = useOrganization();
  const deployments = useQuery(deploymentsQuery(orgId, app.id));
  return (
    <>
      {app.status !== "deleting" && <StatusMessage error={app.error} message={app.status_message} />}
      <Panel title="Live version">
        <QueryContent query={deployments}>
          {({ deployments: list }) => <LiveVersion live={list.find(({ is_live: isLive }) => isLive)} />}
        </QueryContent>
      </Panel>
      <DailyUsage appId={app.id} />
      <Panel title="Newest deployments">
        <QueryContent query={deployments}>
          {({ deployments: list }) => <DeploymentList appId={app.id} deployments={list.slice(0, 5)} />}
        </QueryContent>
      </Panel>
    </>
  );
}

/** @param props.live - the live deployment; `undefined` if it is not among the newest */
function LiveVersion({ live }: { live: Deployment | undefined }) {
  const app = useApp();
  return (
    <FactList>
      {live === undefined ? (
        <Fact name="Deployment">{app.live_deployment_id === null ? "None yet" : "Older than the newest 20"}</Fact>
      ) : (
        <>
          <Fact name="Deployment">
            <DeploymentLink appId={app.id} number={live.number} />
          </Fact>
          <Fact name={live.archive === null ? "Commit" : "Archive"}>
            <code>{live.commit?.slice(0, 12) ?? "unknown"}</code>
            {live.branch !== null && ` of ${live.branch}`}
          </Fact>
          <Fact name="Live since">
            <Timestamp at={live.finished_at} />
          </Fact>
        </>
      )}
      <Fact name="Framework">{app.manifest?.framework ?? "Unknown"}</Fact>
      <Fact name="Runs as">
        {app.runtime === null ? "Unknown" : app.runtime === "node" ? "Node.js server" : "Worker"}
      </Fact>
    </FactList>
  );
}
