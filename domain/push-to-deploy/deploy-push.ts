import { randomUUID } from "node:crypto";
import { type EntityManager, LockMode } from "@mikro-orm/core";
import { IN_PROGRESS } from "../apps/app-status.ts";
import type { App } from "../apps/app.entity.ts";
import { addDeployment, type AddDeploymentDeps } from "../deployments/add-deployment.ts";
import { Deployment } from "../deployments/deployment.entity.ts";
import { redeploymentOf } from "../deployments/redeploy-app.ts";
import { PushDelivery } from "../push-records/push-delivery.entity.ts";
import { type DeployLimitDeps, limitDeploys } from "../rate-limits/limit-deploys.ts";
import { RateLimited, ServiceError } from "../shared/errors.ts";
import { inTransaction, runForOrganization } from "../shared/transaction.ts";

export type DeployPushDeps = AddDeploymentDeps & DeployLimitDeps;

/** The delivery needs no deployment of its own any more. */
class NothingToDeploy extends Error {
  override readonly name = "NothingToDeploy";
}

/**
 * Makes the deployment of a delivery. The delivery names it in the same transaction, so a job that is repeated after a crash deploys
 * nothing twice. At the deploy limit, the delivery waits until the limit allows it.
 */
export async function deployPush(deps: DeployPushDeps, deliveryId: string): Promise<void> {
  const delivery = await deps.em.fork().findOne(PushDelivery, { id: deliveryId, result: "queued" });
  if (delivery === null) return;
  await runForOrganization(delivery.orgId, async () => {
    try {
      if (await isDeployed(deps.em.fork(), delivery)) return await finish(deps, delivery, "skipped", ALREADY_DEPLOYED);
      await limitDeploys(deps, delivery.orgId, () => {});
      await deploy(deps, delivery);
    } catch (error) {
      if (error instanceof NothingToDeploy) return await finish(deps, delivery, "skipped", ALREADY_DEPLOYED);
      if (error instanceof RateLimited) return await waitForLimit(deps, delivery, error);
      if (!(error instanceof ServiceError) || error.code === "unavailable") throw error;
      await finish(deps, delivery, "refused", error.message);
    }
  });
}

const ALREADY_DEPLOYED = "This commit is deployed already, or is about to be.";

async function deploy(deps: DeployPushDeps, { id, appId, orgId, commit, ref }: PushDelivery): Promise<void> {
  const deploymentId = randomUUID();
  const request = { branch: ref?.replace(/^refs\/heads\//, ""), commit: commit ?? undefined };
  const call = { caller: { orgId, userId: null }, appId, request, idempotencyKey: null, deploymentId };
  await addDeployment(deps, call, async (em, app: App) => {
    const delivery = await em.findOne(PushDelivery, { id, result: "queued" }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (delivery === null || (await isDeployed(em, delivery))) throw new NothingToDeploy();
    em.assign(delivery, { result: "deployed", reason: null, deploymentId });
    await deps.jobs.enqueue(em, "commit-status", { deploymentId, orgId });
    return redeploymentOf(em, app, { trigger: "push", request, archiveId: null });
  });
}

/** Whether the commit is the newest one that is live or about to be. */
async function isDeployed(em: EntityManager, { appId, commit }: PushDelivery): Promise<boolean> {
  const inUse = { appId, status: { $in: ["ready" as const, ...IN_PROGRESS] } };
  const [newest] = await em.find(Deployment, inUse, { orderBy: { number: "desc" }, limit: 1 });
  return newest !== undefined && (newest.commit ?? newest.requestedCommit) === commit;
}

async function waitForLimit(
  { em: root, jobs }: DeployPushDeps,
  { id, orgId }: PushDelivery,
  { message, retryAfterSeconds }: RateLimited,
): Promise<void> {
  const [rule = message] = message.split(" Try again");
  await inTransaction(root, async (em) => {
    const reason = `${rule} It is tried again when the limit allows it.`;
    if ((await em.nativeUpdate(PushDelivery, { id, result: "queued" }, { reason })) === 0) return;
    await jobs.enqueue(em, "push", { deliveryId: id, orgId }, retryAfterSeconds);
  });
}

async function finish(
  { em }: Pick<DeployPushDeps, "em">,
  { id }: PushDelivery,
  result: "skipped" | "refused",
  reason: string,
): Promise<void> {
  await em.fork().nativeUpdate(PushDelivery, { id, result: "queued" }, { result, reason });
}
