import type { EntityManager } from "@mikro-orm/core";
import { App } from "../apps/app.entity.ts";
import { BuildFailure } from "../shared/errors.ts";
import { loadArtifact } from "./artifacts.ts";
import type { Attempt, StepDeps } from "./deployment-attempt.ts";
import { Deployment } from "./deployment.entity.ts";
import { publish } from "./provision-app.ts";

/**
 * Publishes the script of the live deployment again if the edge platform serves a newer one. That happens when a worker was
 * interrupted between the switch to the new script and `ready`, and the deployment then fails or is canceled. Call it before
 * such an end is recorded. Does nothing for an app that was never live. Safe to repeat.
 *
 * @throws {StaleGeneration} when the worker lost its lease, and its successor has published a script
 */
export async function restoreLiveScript(deps: StepDeps, attempt: Attempt): Promise<void> {
  const { appId, slug, fencingToken } = attempt.deployment;
  const em = deps.em.fork();
  const live = await findLive(em, { id: appId, fencingToken });
  if (live === null) return;
  const served = await deps.edge.liveGeneration(slug);
  if (served === null || served <= live.fencingToken) return;
  attempt.log.say(`putting deployment ${live.number} live again`);
  try {
    await republish(deps, attempt, live);
    await em.nativeUpdate(Deployment, { id: live.id }, { fencingToken });
  } catch (error) {
    // The deployment still ends: another attempt would have the same result.
    if (!(error instanceof BuildFailure)) throw error;
    attempt.log.say(`deployment ${live.number} could not be put live again: ${error.message}`);
    deps.reportInternalError(error, attempt.deployment);
  }
}

async function findLive(em: EntityManager, where: { id: string; fencingToken: number }): Promise<Deployment | null> {
  const app = await em.findOne(App, where);
  return app?.liveDeploymentId ? em.findOne(Deployment, { id: app.liveDeploymentId }) : null;
}

async function republish(deps: StepDeps, attempt: Attempt, { appId, artifactKey: key }: Deployment): Promise<void> {
  const bundle = key ? await loadArtifact(deps, { appId, key }, attempt) : null;
  if (bundle === null) throw new BuildFailure("platform", "Its bundle is not kept.", "Deploy again.");
  await publish(deps, attempt, bundle);
}
