import { useQuery } from "@tanstack/react-query";
import { useOrganization } from "../../organization.ts";
import { formatSeconds } from "../../ui/quantities.ts";
import { usageQuery } from "../../usage-query.ts";

/** What is left of the plan and of the deploy limit, before a deployment is refused. */
export function DeployLimits() {
  const { id: orgId } = useOrganization();
  const { data } = useQuery(usageQuery(orgId));
  if (data === undefined) return <p className="min-h-5" />;
  const apps = data.quotas.find(({ metric }) => metric === "apps");
  const deploys = data.rate_limits.find(({ name }) => name === "deploy");
  return (
    <p className="flex min-h-5 flex-wrap gap-x-4 text-muted">
      {apps !== undefined && (
        <span>
          {apps.used} of {apps.limit} apps of the plan {data.plan}
        </span>
      )}
      {deploys !== undefined && (
        <span className={deploys.remaining === 0 ? "text-danger" : ""}>
          {deploys.remaining} deployments left, of {deploys.limit} in {formatSeconds(deploys.window_seconds)}
          {deploys.remaining < deploys.limit && `, one more in ${deploys.reset_seconds} s`}
        </span>
      )}
    </p>
  );
}
