import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Deployment } from "../../deployments-query.ts";
import { useOrganization } from "../../organization.ts";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { Cell, Row, Table } from "../../ui/table.tsx";
import { formatDuration, Timestamp } from "../../ui/timestamp.tsx";
import { RollBack } from "./roll-back.tsx";

const TRIGGERS: Readonly<Record<Deployment["trigger"], string>> = {
  deploy: "First deployment",
  redeploy: "Redeployment",
  rollback: "Rollback",
  push: "Push",
  promotion: "Promotion",
};

interface Props {
  appId: string;
  deployments: readonly Deployment[];
}

export function DeploymentList({ appId, deployments }: Props) {
  return (
    <Table caption="Deployments" columns={["Deployment", "Status", "Commit", "Duration", "Started", "Actions"]}>
      {deployments.map((deployment) => (
        <Row key={deployment.number}>
          <Cell>
            <DeploymentLink appId={appId} number={deployment.number} />{" "}
            <span className="text-muted">{describeTrigger(deployment)}</span>
          </Cell>
          <Cell>
            <span className="inline-flex flex-wrap gap-1">
              <StatusBadge status={deployment.status} />
              {deployment.is_live && <LiveBadge />}
            </span>
          </Cell>
          <Cell>
            <code>{deployment.commit?.slice(0, 7)}</code>{" "}
            <span className="text-muted">{deployment.branch ?? "uploaded"}</span>
          </Cell>
          <Cell>{describeDuration(deployment)}</Cell>
          <Cell>
            <Timestamp at={deployment.created_at} />
          </Cell>
          <Cell>{deployment.can_roll_back && !deployment.is_live && <RollBack deployment={deployment} />}</Cell>
        </Row>
      ))}
    </Table>
  );
}

interface DeploymentLinkProps {
  appId: string;
  number: number;
  /** By default the number. */
  children?: ReactNode;
}

export function DeploymentLink({ appId, number, children = `#${number}` }: DeploymentLinkProps) {
  const { id: orgId } = useOrganization();
  return (
    <Link
      to="/apps/$id/deployments/$number"
      params={{ id: appId, number: String(number) }}
      search={{ org: orgId }}
      className="font-medium text-link underline"
    >
      {children}
    </Link>
  );
}

export function LiveBadge() {
  return <span className="rounded-full border border-line-strong px-2 py-0.5 text-xs font-medium">live</span>;
}

export function describeTrigger({
  trigger,
  rollback_to: target,
  promoted_from: from,
  customization,
}: Deployment): string {
  if (trigger === "rollback") return `Rollback to #${target}`;
  if (trigger === "promotion") return `Promotion from ${from}`;
  return customization === null ? TRIGGERS[trigger] : `${TRIGGERS[trigger]}, customized`;
}

/** How long the deployment took, without the time in the queue; empty while it waits. */
export function describeDuration({ started_at: start, finished_at: end }: Deployment): string {
  if (start === null) return "";
  return formatDuration((end === null ? Date.now() : Date.parse(end)) - Date.parse(start));
}
