import { UPLOADED } from "./app-source.ts";
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { ExternalLink } from "lucide-react";
import { useEffect, useRef } from "react";
import { type AppDetail, appQuery } from "../../apps-query.ts";
import { useOrganization } from "../../organization.ts";
import { usePathParameter } from "../../page-params.ts";
import { buttonClass } from "../../ui/button.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { AppContext } from "./app-context.ts";
import { DeletionProgress } from "./deletion-progress.tsx";
import { Redeploy } from "./redeploy.tsx";

/** An app: a header, and one of its tabs below. */
export function AppPage() {
  const { id: orgId } = useOrganization();
  const id = usePathParameter("id");
  const app = useQuery(appQuery(orgId, id));
  return (
    <QueryContent query={app}>
      {(data) => (
        <AppContext value={data}>
          <AppHeader app={data} />
          {data.status === "deleting" && <DeletionProgress message={data.status_message} />}
          <AppTabs id={id} />
          <Outlet />
        </AppContext>
      )}
    </QueryContent>
  );
}

function AppHeader({ app }: { app: AppDetail }) {
  const { name, status, url, repo, branch, environment, parent_id: parentId } = app;
  const { host } = new URL(url);
  const isLive = app.live_deployment_id !== null;
  return (
    <PageHeader
      title={name}
      status={<StatusBadge status={status} />}
      details={
        <>
          {isLive ? (
            <a href={url} target="_blank" rel="noreferrer" className="text-link underline wrap-anywhere">
              {host}
            </a>
          ) : (
            <span className="wrap-anywhere">{host}, not live yet</span>
          )}
          {environment !== null && parentId !== null && <EnvironmentOf name={environment} appId={parentId} />}
          <span className="wrap-anywhere">{repo === null ? UPLOADED : `${repo} · ${branch}`}</span>
        </>
      }
      actions={
        <>
          <Redeploy />
          {isLive && (
            <a href={url} target="_blank" rel="noreferrer" className={buttonClass("primary")}>
              Open
              <ExternalLink aria-hidden className="size-4" />
            </a>
          )}
        </>
      }
    />
  );
}

function EnvironmentOf({ name, appId }: { name: string; appId: string }) {
  const { id: orgId } = useOrganization();
  return (
    <span>
      Environment {name} of{" "}
      <Link to="/apps/$id" params={{ id: appId }} search={{ org: orgId }} className="text-link underline">
        production
      </Link>
    </span>
  );
}

const TABS = [
  ["/apps/$id", "Overview"],
  ["/apps/$id/deployments", "Deployments"],
  ["/apps/$id/environments", "Environments"],
  ["/apps/$id/logs", "Logs"],
  ["/apps/$id/procedures", "Procedures"],
  ["/apps/$id/variables", "Variables"],
  ["/apps/$id/storage", "Storage"],
  ["/apps/$id/settings", "Settings"],
] as const;

function AppTabs({ id }: { id: string }) {
  const { id: orgId } = useOrganization();
  const { pathname } = useLocation();
  const tabs = useRef<HTMLElement>(null);
  // On a phone, the tabs are wider than the screen.
  useEffect(() => {
    tabs.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [pathname]);
  return (
    <nav ref={tabs} aria-label="This app" className="-mx-1 flex overflow-x-auto border-b border-line">
      {TABS.map(([to, label]) => (
        <Link
          key={to}
          to={to}
          params={{ id }}
          search={{ org: orgId }}
          activeOptions={{ exact: to === "/apps/$id", includeSearch: false }}
          className="-mb-px border-b-2 border-transparent px-3 py-2 whitespace-nowrap text-muted hover:text-ink aria-[current=page]:border-accent aria-[current=page]:font-medium aria-[current=page]:text-ink"
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}
