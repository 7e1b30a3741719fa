import { randomUUID } from "node:crypto";
import { App } from "../../domain/apps/app.entity.ts";
import type { Em } from "../../server/database/orm.ts";

/** Inserts rows of ready apps, without deployments and resources. */
export async function insertAppRows(em: Em, orgId: string, count: number): Promise<void> {
  await em.transactional(async (tx) => {
    const origin = { orgId, createdBy: randomUUID(), name: "demo", repo: "acme/demo", branch: "main" };
    for (let index = 0; index < count; index++) {
      // One second apart, so that the order of the list is unique.
      const createdAt = new Date(Date.now() - index * 1000);
      // Not `slugFor`: thousands of its short random suffixes would collide occasionally.
      const slug = `demo-${randomUUID()}`;
      const deploymentId = randomUUID();
      const deployments = { latestDeploymentId: deploymentId, liveDeploymentId: deploymentId };
      tx.create(App, { ...origin, ...deployments, slug, status: "ready", createdAt });
    }
  });
}
