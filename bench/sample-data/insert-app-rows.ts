import { randomUUID } from "node:crypto";
import { App } from "../../domain/apps/app.entity.ts";
import type { Em } from "../../server/database/orm.ts";

/** Records of apps that look ready, with nothing behind them. */
export async function recordApps(em: Em, orgId: string, count: number): Promise<void> {
  await em.transactional(async (tx) => {
    const origin = { orgId, createdBy: randomUUID(), name: "demo", repo: "acme/demo", branch: "main" };
    for (let at = 0; at < count; at++) {
      // A second apart, so that the order of the list is the same for all who read it.
      const createdAt = new Date(Date.now() - at * 1000);
      // Thousands of short random suffixes would clash now and then.
      const slug = `demo-${randomUUID()}`;
      const deploymentId = randomUUID();
      const deployments = { latestDeploymentId: deploymentId, liveDeploymentId: deploymentId };
      tx.create(App, { ...origin, ...deployments, slug, status: "ready", createdAt });
    }
  });
}
