import type { EntityManager } from "@mikro-orm/core";
import type { App } from "../apps/app.entity.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { addDeployment, type AddDeploymentDeps, sourceOfKept } from "./add-deployment.ts";
import type { DeploymentView } from "./deployment-view.ts";
import { Deployment } from "./deployment.entity.ts";
import { deploymentNotFound } from "./list-deployments.ts";

/**
 * Queues a deployment that makes an earlier one live again, from its kept bundle. Nothing is built, and the SQL database
 * keeps the migrations of later deployments.
 *
 * @param idempotencyKey - repeating a call with the same key returns the deployment of the first call
 * @throws {ServiceError} `not_found` when the app has no deployment with this number; `conflict` when that is live or has
 *   no kept bundle; and those of `addDeployment`
 */
export function rollBackApp(
  deps: AddDeploymentDeps,
  caller: Caller,
  { id: appId, number }: { id: string; number: number },
  idempotencyKey: string | null,
): Promise<DeploymentView> {
  const call = { caller, appId, request: { rollback_to: number }, idempotencyKey };
  return addDeployment(deps, call, async (em, app) => {
    const target = await findTarget(em, app, number);
    return { ...sourceOfKept(target), trigger: "rollback", rollbackToId: target.id };
  });
}

async function findTarget(em: EntityManager, app: App, number: number): Promise<Deployment> {
  const target = await em.findOne(Deployment, { appId: app.id, number });
  if (target === null) throw deploymentNotFound();
  if (target.id === app.liveDeploymentId) throw new ServiceError("conflict", `Deployment ${number} is live already.`);
  if (target.status === "superseded" && target.artifactKey) return target;
  const kept = await em.find(
    Deployment,
    { appId: app.id, status: "superseded", artifactKey: { $ne: null } },
    { orderBy: { number: "desc" } },
  );
  const numbers = kept.map((deployment) => deployment.number);
  const valid = numbers.length === 0 ? "No earlier deployment has one." : `Those of ${numbers.join(", ")} are kept.`;
  throw new ServiceError("conflict", `Deployment ${number} is \`${target.status}\` and has no kept bundle. ${valid}`);
}
