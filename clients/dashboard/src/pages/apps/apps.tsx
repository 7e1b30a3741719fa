import { useQuery } from "@tanstack/react-query";
import { Link, useLocation } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useDeferredValue, useMemo } from "react";
import { type App, appsQuery } from "../../apps-query.ts";
import { useOrganization } from "../../organization.ts";
import { useChangeSearch } from "../../search-params.ts";
import { buttonClass } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Choice, SearchInput } from "../../ui/filter-bar.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { AppList } from "./app-list.tsx";
import { type AppFilter, filterApps, readAppFilter, SORT_OPTIONS, STATUS_OPTIONS } from "./app-filter.ts";

export function AppsPage() {
  const { id: orgId } = useOrganization();
  const apps = useQuery(appsQuery(orgId));
  return (
    <>
      <PageHeader title="Apps" actions={<NewAppLink />} />
      <QueryContent query={apps}>{(all) => (all.length === 0 ? <NoApps /> : <FilteredApps apps={all} />)}</QueryContent>
    </>
  );
}

function NewAppLink() {
  const { id: orgId } = useOrganization();
  return (
    <Link to="/apps/new" search={{ org: orgId }} className={buttonClass("primary")}>
      <Plus aria-hidden className="size-4" />
      New app
    </Link>
  );
}

function NoApps() {
  const { id: orgId } = useOrganization();
  return (
    <EmptyState>
      <p>No apps yet. An app is a git repository that this service builds and runs.</p>
      <p>
        <Link to="/apps/new" search={{ org: orgId }} className="font-medium text-link underline">
          Deploy your first app
        </Link>
        : a repository of yours, or an example.
      </p>
    </EmptyState>
  );
}

function FilteredApps({ apps }: { apps: App[] }) {
  const change = useChangeSearch();
  const filter = readAppFilter(useLocation().search);
  const deferred = useDeferredValue(filter);
  const shown = useMemo(
    () => filterApps(apps, deferred),
    [apps, deferred.q, deferred.status, deferred.framework, deferred.sort],
  );
  const frameworks = useMemo(
    () => [...new Set(apps.flatMap(({ framework }) => (framework === null ? [] : [framework])))].toSorted(),
    [apps],
  );
  return (
    <section aria-label="Apps" className="space-y-3">
      <Filters filter={filter} frameworks={frameworks} onChange={(changed) => change(changed)} />
      <p role="status" className="text-xs text-muted">
        {shown.length === apps.length ? countApps(apps.length) : `${shown.length} of ${countApps(apps.length)}`}
      </p>
      {shown.length === 0 ? (
        <EmptyState>
          <p>No app matches. Change the search or the filters.</p>
        </EmptyState>
      ) : (
        <AppList apps={shown} />
      )}
    </section>
  );
}

interface FiltersProps {
  filter: AppFilter;
  frameworks: readonly string[];
  onChange: (changed: Partial<AppFilter>) => void;
}

function Filters({ filter, frameworks, onChange }: FiltersProps) {
  return (
    <div className="flex flex-wrap gap-2">
      <SearchInput
        id="app-search"
        label="Search apps"
        placeholder="Search by name, repository or URL  ( / )"
        value={filter.q}
        onChange={(q) => onChange({ q })}
      />
      <Choice
        label="Status"
        value={filter.status}
        options={STATUS_OPTIONS}
        onChange={(status) => onChange({ status })}
      />
      <Choice
        label="Framework"
        value={filter.framework}
        options={[["", "All frameworks"], ...frameworks.map((name) => [name, name] as const)]}
        onChange={(framework) => onChange({ framework })}
      />
      <Choice label="Order" value={filter.sort} options={SORT_OPTIONS} onChange={(sort) => onChange({ sort })} />
    </div>
  );
}

function countApps(count: number): string {
  return `${count.toLocaleString()} ${count === 1 ? "app" : "apps"}`;
}
