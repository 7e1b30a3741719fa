import type { EntityManager } from "@mikro-orm/core";
import { App } from "../apps/app.entity.ts";
import { sourcesOf } from "../apps/app-status.ts";
import type { JobQueue } from "../ports/job-queue.ts";
import type { DiscoveredProcedure } from "../ports/procedure-discovery.ts";
import { removeProcedures, replaceProcedures } from "../procedures/replace-procedures.ts";
import { Build } from "./deployment.entity.ts";
import type { ClaimedDeployment } from "./claim-deployment.ts";
import { Superseded } from "./lease.ts";
import { transitionApp } from "./transition-deployment.ts";
import { type AppPlatform, releaseResources } from "./release-resources.ts";

/**
 * The app is live, and its procedures with it.
 *
 * @param result.statusMessage - what its owner should know nevertheless
 * @throws {Superseded} when it was taken over in the last moment
 */
export async function finishDeployment(
  em: EntityManager,
  build: ClaimedDeployment,
  { procedures, statusMessage }: { procedures: readonly DiscoveredProcedure[]; statusMessage: string | null },
): Promise<void> {
  await em.fork().transactional(async (tx) => {
    await transitionApp(tx, build, "ready", { statusMessage, error: null });
    await replaceProcedures(tx, build, procedures);
    await tx.nativeUpdate(Build, { id: build.buildId }, { outcome: "ready", finishedAt: new Date(), heldAt: null });
  });
}

/**
 * The build cannot go on. The resources go first, so an app that shows `failed` has none; its log stays.
 *
 * @throws {Superseded} when the app was taken over meanwhile, or is ready after all
 */
export async function failDeployment(
  deps: AppPlatform & { em: EntityManager },
  build: ClaimedDeployment,
  shown: { error: string; statusMessage: string },
): Promise<void> {
  // A worker that was taken over must not take away what its successor made; nor what is live, when the connection broke
  // just as `ready` was committed.
  const where = { id: build.appId, fence: build.fence, status: { $in: sourcesOf("failed") } };
  if ((await deps.em.fork().count(App, where)) === 0) throw new Superseded();
  await releaseResources(deps, build);
  await deps.em.fork().transactional(async (tx) => {
    await transitionApp(tx, build, "failed", { ...shown, manifest: null });
    await removeProcedures(tx, build.appId);
    await tx.nativeUpdate(Build, { id: build.buildId }, { outcome: "failed", finishedAt: new Date(), heldAt: null });
  });
}

/** Puts the build back in the queue as if this attempt had not been made. */
export async function requeueDeployment(
  deps: { em: EntityManager; jobs: JobQueue },
  build: ClaimedDeployment,
): Promise<void> {
  await deps.em.fork().transactional(async (tx) => {
    await transitionApp(tx, build, "queued", {
      statusMessage: "Waiting to be built again after a restart of the service.",
    });
    await tx.nativeUpdate(Build, { id: build.buildId }, { attempts: build.attempt - 1, heldAt: null });
    await deps.jobs.enqueue(tx, "build", { buildId: build.buildId });
  });
}
