import type { EntityManager } from "@mikro-orm/core";
import { LOG_BUCKET } from "../apps/app-resources.ts";
import { IN_PROGRESS } from "../apps/app-status.ts";
import { App } from "../apps/app.entity.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import { Procedure } from "../procedures/procedure.entity.ts";
import { inTransaction } from "../shared/transaction.ts";
import { Customization } from "./customization.entity.ts";
import { Deployment } from "./deployment.entity.ts";

/** How many of an app's newest deployments are kept. */
const KEPT_DEPLOYMENTS = 200;

/** The most deployments that one call removes. An app gets at most a few between two calls. */
const BATCH_SIZE = 100;

/**
 * Removes the records and logs of an app's deployments that are not among its newest ones. Those that are live, in progress
 * or have a kept bundle stay, and so does the first one, which has the settings of the app's first request. Safe to repeat.
 */
export async function removeOldDeployments(
  { em, objects }: { em: EntityManager; objects: ObjectStore },
  appId: string,
): Promise<void> {
  const old = await findOldDeployments(em.fork(), appId);
  if (old.length === 0) return;
  // The records last, because they have the keys of the logs.
  for (const { logKey } of old) await objects.remove(LOG_BUCKET, logKey);
  const ids = old.map(({ id }) => id);
  await inTransaction(em, async (tx) => {
    await tx.nativeDelete(Procedure, { deploymentId: { $in: ids } });
    await tx.nativeDelete(Customization, { deploymentId: { $in: ids } });
    await tx.nativeDelete(Deployment, { id: { $in: ids } });
  });
}

async function findOldDeployments(em: EntityManager, appId: string): Promise<Pick<Deployment, "id" | "logKey">[]> {
  const app = await em.findOne(App, { id: appId });
  const newest = await em.findOne(Deployment, { appId }, { orderBy: { number: "desc" } });
  if (app === null || newest === null) return [];
  const { latestDeploymentId, liveDeploymentId } = app;
  const used = [latestDeploymentId, ...(liveDeploymentId ? [liveDeploymentId] : [])];
  const old = {
    appId,
    number: { $gt: 1, $lte: newest.number - KEPT_DEPLOYMENTS },
    id: { $nin: used },
    artifactKey: null,
    status: { $nin: [...IN_PROGRESS] },
  };
  return em.find(Deployment, old, { fields: ["id", "logKey"], orderBy: { number: "asc" }, limit: BATCH_SIZE });
}
