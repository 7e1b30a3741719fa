import { randomUUID } from "node:crypto";
import { App } from "../../domain/apps/app.entity.ts";
import { slugFor } from "../../domain/apps/slug.ts";
import { replaceProcedures } from "../../domain/procedures/replace-procedures.ts";
import type { Em } from "../../server/database/orm.ts";
import { inventedApp } from "./sample-apps.ts";

export interface AppsToRecord {
  /** The number of the first one; every number is another app. */
  from: number;
  apps: number;
  /** Of each app. */
  procedures: number;
}

/** Records of apps that look ready, and of the procedures they offer, as a deploy writes them. */
export async function recordProcedures(em: Em, orgId: string, { from, apps, procedures }: AppsToRecord): Promise<void> {
  const origin = { orgId, createdBy: randomUUID(), repo: "acme/demo", branch: "main", status: "ready" } as const;
  for (let at = from; at < from + apps; at++) {
    const invented = inventedApp(at, procedures);
    await em.fork().transactional(async (tx) => {
      const deploymentId = randomUUID();
      const slug = slugFor(invented.name);
      const deployments = { latestDeploymentId: deploymentId, liveDeploymentId: deploymentId };
      const app = tx.create(App, { ...origin, ...deployments, name: invented.name, slug });
      await tx.flush();
      await replaceProcedures(tx, { deploymentId, appId: app.id, orgId }, invented.procedures);
    });
  }
}
