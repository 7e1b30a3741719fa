import { setTimeout as delay } from "node:timers/promises";
import type { EntityManager } from "@mikro-orm/core";
import { App } from "../apps/app.entity.ts";
import { LOG_BUCKET, logKeyOf } from "../apps/app-resources.ts";
import { removeProcedures } from "../procedures/replace-procedures.ts";
import { Build } from "./deployment.entity.ts";
import { LEASE_MS } from "./claim-deployment.ts";
import { type AppPlatform, releaseResources } from "./release-resources.ts";

export interface TeardownDeps extends AppPlatform {
  em: EntityManager;
}

/**
 * Removes everything of an app that is `deleting`, the record last, so that a crash between any two steps leaves
 * something to go on from. Does nothing for an app that is gone or was never marked. Safe to repeat and to run twice at
 * once.
 *
 * @throws whatever a provider throws; the queue then runs it again
 */
export async function tearDownApp(deps: TeardownDeps, appId: string): Promise<void> {
  const app = await deps.em.fork().findOne(App, { id: appId, status: "deleting" });
  if (app === null) return;
  await buildHasStopped(deps.em, appId);
  await releaseResources(deps, { appId, slug: app.slug });
  await deps.objects.remove(LOG_BUCKET, logKeyOf(appId));
  await deps.em.fork().transactional(async (em) => {
    await removeProcedures(em, appId);
    await em.nativeDelete(Build, { appId });
    await em.nativeDelete(App, { id: appId, status: "deleting" });
  });
}

/** A worker notices within a second that its app is being deleted; a dead worker's hold runs out. */
async function buildHasStopped(em: EntityManager, appId: string): Promise<void> {
  const alive = () => ({ appId, heldAt: { $gt: new Date(Date.now() - LEASE_MS) } });
  while ((await em.fork().count(Build, alive())) > 0) await delay(100);
}
