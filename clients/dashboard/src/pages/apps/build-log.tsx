import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useCallback } from "react";
import type { Deployment } from "../../deployments-query.ts";
import { isChanging } from "../../apps-query.ts";
import { followBuild, type FollowOptions } from "../../event-streams.ts";
import { useOrganization } from "../../organization.ts";
import { type FollowedLog, useFollowedLog } from "../../use-followed-log.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { LogView } from "../../ui/log-view.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";

interface Props {
  deployment: Deployment;
  /** Controls before the search field. */
  filters?: ReactNode;
}

/** The log of one deployment, each line as soon as it is written. */
export function BuildLog({ deployment: { app_id: id, number, status }, filters }: Props) {
  const { id: orgId } = useOrganization();
  const client = useQueryClient();
  const open = useCallback(
    async function* (options: FollowOptions) {
      for await (const event of followBuild(orgId, { id, number }, options))
        if (event.type === "line") yield { text: event.line };
      // The deployment has ended: its status has changed.
      if (!options.signal.aborted) await client.invalidateQueries({ queryKey: ["app", orgId, id] });
    },
    [client, orgId, id, number],
  );
  const log = useFollowedLog(open);
  return (
    <>
      <FollowState log={log} />
      <LogView
        label="Build log"
        lines={log.lines}
        fileName={`deployment-${number}.log`}
        numbered
        filters={filters}
        empty={<NoOutput status={status} log={log} />}
      />
    </>
  );
}

function NoOutput({ status, log }: { status: string; log: FollowedLog }) {
  if (log.error !== null) return null;
  const message =
    log.state !== "ended"
      ? isChanging(status)
        ? "No output yet. The log appears here as the deployment writes it."
        : "Loading…"
      : "This deployment has no log. Redeploy the app to get one.";
  return (
    <EmptyState>
      <p className="text-muted">{message}</p>
    </EmptyState>
  );
}

/** The error of a log, or that it is being connected again. */
export function FollowState({ log: { lines, state, error, retry } }: { log: FollowedLog }) {
  return (
    <>
      {error !== null && (
        <div className="space-y-3">
          <ErrorNotice error={error} />
          <Button onClick={retry}>Try again</Button>
        </div>
      )}
      {state === "waiting" && lines.length > 0 && (
        <p role="status" className="text-warning">
          The connection is lost. Connecting again…
        </p>
      )}
    </>
  );
}
