import { useQuery } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import { type Deployment, deploymentsQuery } from "../../deployments-query.ts";
import { isChanging } from "../../apps-query.ts";
import { useOrganization } from "../../organization.ts";
import { useChangeSearch } from "../../search-params.ts";
import { ToggleGroup } from "../../ui/toggle-group.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Choice } from "../../ui/filter-bar.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { useApp } from "./app-context.ts";
import { BuildLog } from "./build-log.tsx";
import { DeploymentLink } from "./deployment-list.tsx";
import { RuntimeLog } from "./runtime-log.tsx";

const MINUTE_MS = 60_000;

const LEVELS = [
  ["debug", "All levels"],
  ["info", "Info and above"],
  ["warn", "Warnings and errors"],
  ["error", "Errors"],
] as const;

const RANGES = [
  ["15m", "Last 15 minutes", 15 * MINUTE_MS],
  ["1h", "Last hour", 60 * MINUTE_MS],
  ["1d", "Last day", 24 * 60 * MINUTE_MS],
  ["7d", "Last 7 days", 7 * 24 * 60 * MINUTE_MS],
] as const;

const SOURCES = [
  ["runtime", "Runtime"],
  ["build", "Newest build"],
] as const;

/** What the app prints, or the log of its newest deployment. */
export function LogsTab() {
  const { id: orgId } = useOrganization();
  const { id } = useApp();
  const deployments = useQuery(deploymentsQuery(orgId, id));
  const { source, level, range, change } = useFilter();
  const switches = <ToggleGroup label="Log" value={source} options={SOURCES} onChange={(log) => change({ log })} />;
  return (
    <Panel title="Logs">
      {source === "runtime" ? (
        <>
          <RunningDeployment newest={deployments.data?.deployments[0]} />
          <RuntimeLog
            level={level}
            rangeMs={RANGES.find(([value]) => value === range)?.[2] ?? RANGES[1][2]}
            filters={
              <>
                {switches}
                <Choice label="Level" value={level} options={LEVELS} onChange={(value) => change({ level: value })} />
                <Choice label="Time" value={range} options={RANGES} onChange={(value) => change({ range: value })} />
              </>
            }
          />
        </>
      ) : (
        <QueryContent query={deployments}>
          {({ deployments: [newest] }) =>
            newest === undefined ? (
              <EmptyState>
                {switches}
                <p className="text-muted">This app has no deployment.</p>
              </EmptyState>
            ) : (
              <>
                <p className="text-muted">
                  Log of{" "}
                  <DeploymentLink appId={newest.app_id} number={newest.number}>
                    deployment #{newest.number}
                  </DeploymentLink>
                </p>
                <BuildLog key={newest.number} deployment={newest} filters={switches} />
              </>
            )
          }
        </QueryContent>
      )}
    </Panel>
  );
}

/** The filter is in the URL, so that a reload and a copied link show the same log. */
function useFilter() {
  const search: Record<string, unknown> = useLocation().search;
  const choose = <Value extends string>(name: string, options: readonly (readonly [Value, ...unknown[]])[]) =>
    options.find(([value]) => value === search[name])?.[0];
  const change = useChangeSearch();
  return {
    source: choose("log", SOURCES) ?? "runtime",
    level: choose("level", LEVELS) ?? "debug",
    range: choose("range", RANGES) ?? "1h",
    change,
  };
}

function RunningDeployment({ newest }: { newest: Deployment | undefined }) {
  if (newest === undefined || !isChanging(newest.status)) return null;
  return (
    <p role="status">
      <DeploymentLink appId={newest.app_id} number={newest.number}>
        Deployment #{newest.number} is running
      </DeploymentLink>
    </p>
  );
}
