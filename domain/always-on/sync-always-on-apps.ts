import type { Db } from "../database-types.ts";
import type { Plans } from "../plans/plans.ts";
import type { AlwaysOnApps } from "../ports/always-on-apps.ts";

export interface AlwaysOnDeps {
  db: Db;
  plans: Plans;
  alwaysOn: AlwaysOnApps;
}

/**
 * Tells the edge platform which apps are always on: of each organization the Node servers that were created first, as many as its plan
 * says. The first one of each organization precedes the second one of any other.
 */
export async function syncAlwaysOnApps({ db, plans, alwaysOn }: AlwaysOnDeps): Promise<void> {
  if (!plans.hasAlwaysOnApps) return alwaysOn.set([]);
  const rows = await db
    .selectFrom("apps")
    .innerJoin("organizations", "organizations.id", "apps.org_id")
    .select(["apps.id", "apps.slug", "apps.org_id", "organizations.plan"])
    .where("apps.runtime", "=", "node")
    .where("apps.live_deployment_id", "is not", null)
    .where("apps.status", "<>", "deleting")
    .orderBy("apps.created_at")
    .orderBy("apps.id")
    .execute();
  const counts = new Map<string, number>();
  const ranked = rows.map(({ id, slug, org_id: orgId, plan }) => {
    const rank = counts.get(orgId) ?? 0;
    counts.set(orgId, rank + 1);
    return { app: { appId: id, slug }, rank, limit: plans.getLimits(plan).alwaysOnApps };
  });
  const kept = ranked.filter(({ rank, limit }) => rank < limit).toSorted((a, b) => a.rank - b.rank);
  alwaysOn.set(kept.map(({ app }) => app));
}
