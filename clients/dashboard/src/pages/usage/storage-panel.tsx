import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { appsQuery } from "../../apps-query.ts";
import { useOrganization } from "../../organization.ts";
import type { Usage } from "../../usage-query.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Meter } from "../../ui/meter.tsx";
import { Panel } from "../../ui/panel.tsx";
import { formatBytes } from "../../ui/quantities.ts";

type Storage = Usage["storage"];

const KINDS: Readonly<Record<string, string | undefined>> = {
  sql: "SQL",
  key_value: "key-value",
  objects: "files",
  durable: "durable objects",
};

/** What each app stores of what it may store. */
export function StoragePanel({ storage }: { storage: Storage }) {
  const { limit_bytes_per_app: limit, total_bytes: total, workspace_bytes: workspaces, apps } = storage;
  const intro = `${formatBytes(total)} in all apps, ${formatBytes(workspaces)} in the workspaces of agents. An app may store ${formatBytes(limit)}; beyond it, it is stopped.`;
  return (
    <Panel title="Storage by app" intro={intro}>
      {apps.length === 0 ? (
        <EmptyState>No app stores data yet. Apps are measured regularly.</EmptyState>
      ) : (
        <ul className="space-y-4">
          {apps.map((app) => (
            <AppStorage key={app.slug} app={app} limit={limit} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

function AppStorage({
  app: { slug, total_bytes: total, bytes, stopped },
  limit,
}: {
  app: Storage["apps"][number];
  limit: number;
}) {
  const kinds = Object.entries(bytes)
    .filter(([, amount]) => amount > 0)
    .map(([kind, amount]) => `${formatBytes(amount)} ${KINDS[kind] ?? kind}`);
  return (
    <li className="space-y-1.5">
      <div className="flex flex-wrap items-baseline justify-between gap-x-4">
        <span className="min-w-0 wrap-anywhere">
          <AppLink slug={slug} />
          {stopped && <span className="ml-2 text-danger">stopped</span>}
        </span>
        <span className="text-muted tabular-nums">{kinds.length === 0 ? "nothing" : kinds.join(", ")}</span>
      </div>
      <Meter
        label={`Storage of ${slug}`}
        value={total}
        max={limit}
        text={`${formatBytes(total)} of ${formatBytes(limit)}`}
      />
    </li>
  );
}

function AppLink({ slug }: { slug: string }) {
  const { id: orgId } = useOrganization();
  const { data: apps } = useQuery(appsQuery(orgId));
  const app = apps?.find((candidate) => candidate.slug === slug);
  if (app === undefined) return slug;
  return (
    <Link to="/apps/$id" params={{ id: app.id }} search={{ org: orgId }} className="text-link underline">
      {slug}
    </Link>
  );
}
