import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { isInProgress } from "../../../../domain/apps/app-status.ts";
import type { Api } from "../api.ts";
import { useOrganization } from "../organization.ts";
import { EmptyState } from "../ui/empty-state.tsx";
import { Panel } from "../ui/panel.tsx";
import { PageTitle } from "../ui/page-layout.tsx";
import { Preformatted } from "../ui/preformatted.tsx";
import { QueryContent } from "../ui/query-content.tsx";

type BuildLog = Awaited<ReturnType<Api["apps"]["logs"]["query"]>>;

/** How often the page reads the log of a deployment in progress. */
const REFRESH_MS = 2_000;

/** The log of an app's newest deployment. */
export function BuildLogPage({ appId }: { appId: string }) {
  const { id: orgId, api } = useOrganization();
  const name = useQuery({
    queryKey: ["app-name", orgId, appId],
    queryFn: async () => (await api.apps.get.query({ id: appId })).name,
  });
  const log = useQuery({
    queryKey: ["build-log", orgId, appId],
    queryFn: () => api.apps.logs.query({ id: appId }),
    refetchInterval: ({ state: { data } }) => data !== undefined && isInProgress(data.status) && REFRESH_MS,
  });
  return (
    <>
      <PageTitle>Build log</PageTitle>
      <p className="text-sm">
        <Link to="/" search={{ org: orgId }} className="underline">
          All apps
        </Link>
      </p>
      <Panel title={name.data ?? "App"} intro="The newest deployment.">
        <QueryContent query={log}>{(data) => <LogContent log={data} />}</QueryContent>
      </Panel>
    </>
  );
}

function LogContent({ log: { status, status_message: message, error, logs } }: { log: BuildLog }) {
  return (
    <>
      <div className="space-y-1 text-sm wrap-anywhere">
        <p>
          Status: <strong>{status}</strong>
        </p>
        {error !== null && <p>{error}</p>}
        {message !== null && <p>{message}</p>}
      </div>
      {logs === null || logs === "" ? (
        <EmptyState>
          {isInProgress(status)
            ? "No output yet. The log appears here as the deployment writes it."
            : "This deployment has no log. Deploy the repository again to get one."}
        </EmptyState>
      ) : (
        <Preformatted label="Build log" text={logs} />
      )}
    </>
  );
}
