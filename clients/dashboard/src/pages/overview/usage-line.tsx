import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useOrganization } from "../../organization.ts";
import { usageQuery } from "../../usage-query.ts";
import { formatBytes, formatCount } from "../../ui/quantities.ts";

/** The plan and the usage of this month in one line. */
export function UsageLine() {
  const { id: orgId } = useOrganization();
  const { data } = useQuery(usageQuery(orgId));
  // The line keeps its height, so that the page does not move when the data arrives.
  if (data === undefined) return <span className="min-h-5" />;
  const apps = data.quotas.find(({ metric }) => metric === "apps");
  const { requests, deployments } = data.activity;
  return (
    <>
      <span>Plan {data.plan}</span>
      {apps !== undefined && (
        <span>
          {apps.used.toLocaleString("en")} of {formatCount(apps.limit, "app")}
        </span>
      )}
      <span>
        {formatCount(requests, "request")} and {formatCount(deployments, "deployment")} this month
      </span>
      <span>{formatBytes(data.storage.total_bytes)} stored</span>
      <Link to="/usage" search={{ org: orgId }} className="text-link underline">
        Usage
      </Link>
    </>
  );
}
