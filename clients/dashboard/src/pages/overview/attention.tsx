import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { type App, appQuery } from "../../apps-query.ts";
import { useOrganization } from "../../organization.ts";
import { usageQuery } from "../../usage-query.ts";
import { Panel } from "../../ui/panel.tsx";
import { formatBytes } from "../../ui/quantities.ts";
import { QUOTA_NAMES } from "../usage/quota-names.ts";

/** Apps in this list at most. The others are in the list of apps. */
const MAX_APPS = 5;
/** A quota is named from this share of its limit. */
const NEARLY_USED = 0.9;

/** What has failed, was stopped or is nearly used up; nothing if all is well. */
export function Attention({ apps }: { apps: readonly App[] }) {
  const { id: orgId } = useOrganization();
  const { data: usage } = useQuery(usageQuery(orgId));
  const failed = apps.filter(({ status }) => status === "failed");
  const stopped = usage?.storage.apps.filter((app) => app.stopped) ?? [];
  const quotas = usage?.quotas.filter(({ used, limit }) => limit > 0 && used >= limit * NEARLY_USED) ?? [];
  if (failed.length + stopped.length + quotas.length === 0) return null;
  return (
    <Panel title="Needs attention">
      <ul className="divide-y divide-line text-sm">
        {failed.slice(0, MAX_APPS).map((app) => (
          <FailedApp key={app.id} app={app} />
        ))}
        {failed.length > MAX_APPS && (
          <Item
            title={
              <Link to="/apps" search={{ org: orgId, status: "failed" }} className="text-link underline">
                All {failed.length.toLocaleString("en")} failed apps
              </Link>
            }
            reason=""
          />
        )}
        {stopped.map(({ slug, total_bytes: bytes }) => (
          <Item
            key={slug}
            title={slug}
            reason={`Stopped: it stores ${formatBytes(bytes)} of ${formatBytes(usage?.storage.limit_bytes_per_app ?? 0)}. Delete data, or ask the operator for a larger plan.`}
          />
        ))}
        {quotas.map(({ metric, used, limit }) => (
          <Item
            key={metric}
            title={
              <Link to="/usage" search={{ org: orgId }} className="text-link underline">
                {QUOTA_NAMES[metric]?.label ?? metric}
              </Link>
            }
            reason={used >= limit ? "The limit of the plan is reached." : "Nearly at the limit of the plan."}
          />
        ))}
      </ul>
    </Panel>
  );
}

function Item({ title, reason }: { title: ReactNode; reason: string }) {
  return (
    <li className="grid gap-x-4 py-2 first:pt-0 last:pb-0 sm:grid-cols-[14rem_1fr]">
      <span className="line-clamp-2 font-medium wrap-anywhere">{title}</span>
      <span className="line-clamp-2 text-muted wrap-anywhere" title={reason}>
        {reason}
      </span>
    </li>
  );
}

/** The list of apps has only what to do. The reason is a part of the app. */
function FailedApp({ app: { id, name, status_message: message } }: { app: App }) {
  const { id: orgId } = useOrganization();
  const { data } = useQuery(appQuery(orgId, id));
  const reason = [data?.error, message].filter((text) => text != null).join(" ");
  const link = (
    <Link to="/apps/$id/deployments" params={{ id }} search={{ org: orgId }} className="text-link underline">
      {name}
    </Link>
  );
  return <Item title={link} reason={reason === "" ? "The deployment failed." : reason} />;
}
