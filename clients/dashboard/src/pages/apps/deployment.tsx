import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import type { Deployment } from "../../deployments-query.ts";
import { formatError } from "../../api.ts";
import { isChanging } from "../../apps-query.ts";
import { useOrganization } from "../../organization.ts";
import { usePathParameter } from "../../page-params.ts";
import { Button } from "../../ui/button.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { showToast } from "../../show-toast.ts";
import { useApp } from "./app-context.ts";
import { BuildLog } from "./build-log.tsx";
import { describeDuration, describeTrigger, LiveBadge } from "./deployment-list.tsx";
import { RollBack } from "./roll-back.tsx";
import { SourceChanges } from "./source-changes.tsx";
import { StatusMessage } from "./status-message.tsx";
import { type DeploymentDetail, StepTimes } from "./step-times.tsx";

/** One deployment with its log. */
export function DeploymentTab() {
  const { id: orgId, api } = useOrganization();
  const { id } = useApp();
  const number = Number(usePathParameter("number"));
  const deployment = useQuery({
    queryKey: ["app", orgId, id, "deployment", number],
    queryFn: () => api.deployments.get.query({ id, number }),
  });
  return (
    <>
      <Link
        to="/apps/$id/deployments"
        params={{ id }}
        search={{ org: orgId }}
        className="inline-flex items-center gap-1 text-muted hover:text-ink"
      >
        <ArrowLeft aria-hidden className="size-4" />
        All deployments
      </Link>
      <QueryContent query={deployment}>
        {(data) => (
          <>
            <DeploymentPanel deployment={data} />
            {hasChanges(data) && <SourceChanges appId={id} number={number} />}
            <Panel title="Build log">
              <BuildLog deployment={data} />
            </Panel>
          </>
        )}
      </QueryContent>
    </>
  );
}

/** The app builder agent has finished when the build starts. */
function hasChanges({ customization, trigger, status, steps }: DeploymentDetail): boolean {
  if (customization === null || trigger === "rollback") return false;
  return steps.some(({ name }) => name === "prepare") || status === "ready";
}

function DeploymentPanel({ deployment }: { deployment: DeploymentDetail }) {
  const {
    number,
    status,
    error,
    status_message: message,
    commit,
    branch,
    created_at: at,
    is_live: isLive,
  } = deployment;
  return (
    <Panel title={`Deployment #${number}`}>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <StatusBadge status={status} />
        {isLive && <LiveBadge />}
        <span>{describeTrigger(deployment)}</span>
        <span>
          <code>{commit?.slice(0, 12) ?? ""}</code> {branch ?? "uploaded"}
        </span>
        <span className="text-muted">
          <Timestamp at={at} />, {describeDuration(deployment)}
        </span>
        <span className="ml-auto flex gap-2">
          {isChanging(status) && <Cancel deployment={deployment} />}
          {deployment.can_roll_back && !isLive && <RollBack deployment={deployment} />}
        </span>
      </div>
      <StatusMessage error={error} message={message} />
      <StepTimes deployment={deployment} />
      {deployment.customization !== null && (
        <div>
          <p className="text-xs text-muted">Instructions for the app builder agent</p>
          <p className="whitespace-pre-wrap wrap-anywhere">{deployment.customization}</p>
        </div>
      )}
    </Panel>
  );
}

function Cancel({ deployment: { app_id: id, number } }: { deployment: Deployment }) {
  const { id: orgId, api } = useOrganization();
  const client = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => api.deployments.cancel.mutate({ id, number }),
    onSettled: () => client.invalidateQueries({ queryKey: ["app", orgId, id] }),
    onError: (error) => showToast("The deployment was not canceled.", formatError(error)),
  });
  return (
    <Button busy={cancel.isPending} onClick={() => cancel.mutate()}>
      Cancel
    </Button>
  );
}
