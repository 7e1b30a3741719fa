import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { type App, appsQuery } from "../../apps-query.ts";
import { useOrganization } from "../../organization.ts";
import { buttonClass } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { AppList } from "../apps/app-list.tsx";
import { Attention } from "./attention.tsx";
import { FirstSteps } from "./first-steps.tsx";
import { UsageLine } from "./usage-line.tsx";
import { useFirstSteps } from "./use-first-steps.ts";

const NEWEST = 5;

/** The first steps of a new installation, what needs attention, and what is new. */
export function OverviewPage() {
  const { id: orgId } = useOrganization();
  const apps = useQuery(appsQuery(orgId));
  const steps = useFirstSteps(apps.data);
  return (
    <>
      <PageHeader title="Overview" details={<UsageLine />} />
      <QueryContent query={apps}>
        {(all) => (
          <>
            {steps != null && <FirstSteps apps={all} steps={steps} />}
            <Attention apps={all} />
            {all.length > 0 ? <NewestApps apps={all} /> : steps === null && <NoApps />}
          </>
        )}
      </QueryContent>
    </>
  );
}

function NewestApps({ apps }: { apps: readonly App[] }) {
  const { id: orgId } = useOrganization();
  return (
    <Panel title="Newest apps">
      <AppList apps={apps.slice(0, NEWEST)} />
      {apps.length > NEWEST && (
        <Link to="/apps" search={{ org: orgId }} className="text-link underline">
          All {apps.length.toLocaleString("en")} apps
        </Link>
      )}
    </Panel>
  );
}

function NoApps() {
  const { id: orgId } = useOrganization();
  return (
    <EmptyState>
      <p>No apps yet. An app is a git repository that this service builds and runs.</p>
      <Link to="/apps/new" search={{ org: orgId }} className={buttonClass("primary")}>
        <Plus aria-hidden className="size-4" />
        New app
      </Link>
    </EmptyState>
  );
}
