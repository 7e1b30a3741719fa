import { randomUUID } from "node:crypto";
import { App } from "../../domain/apps/app.entity.ts";
import { slugFor } from "../../domain/apps/slug.ts";
import { replaceProcedures } from "../../domain/procedures/replace-procedures.ts";
import type { Em } from "../../server/database/orm.ts";
import { createSampleApp } from "./sample-apps.ts";

export interface SampleApps {
  /** The number of the first app. Every number gives a different app. */
  firstNumber: number;
  apps: number;
  /** In each app. */
  procedures: number;
}

/** Inserts rows of ready apps with procedures, like a deployment does. */
export async function insertAppProcedures(
  em: Em,
  orgId: string,
  { firstNumber, apps, procedures }: SampleApps,
): Promise<void> {
  const origin = { orgId, createdBy: randomUUID(), repo: "acme/demo", branch: "main", status: "ready" } as const;
  for (let number = firstNumber; number < firstNumber + apps; number++) {
    const sample = createSampleApp(number, procedures);
    await em.fork().transactional(async (tx) => {
      const deploymentId = randomUUID();
      const slug = slugFor(sample.name);
      const deployments = { latestDeploymentId: deploymentId, liveDeploymentId: deploymentId };
      const app = tx.create(App, { ...origin, ...deployments, name: sample.name, slug });
      await tx.flush();
      await replaceProcedures(tx, { deploymentId, appId: app.id, orgId }, sample.procedures);
    });
  }
}
