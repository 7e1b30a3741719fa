import { randomUUID } from "node:crypto";
import type { EntityManager } from "@mikro-orm/core";
import { checkAppQuota, countsInPlan, lockOrganization } from "../apps/app-quota.ts";
import type { App } from "../apps/app.entity.ts";
import type { NewDeployment } from "../apps/deploy-app.ts";
import { appNotFound } from "../apps/get-app.ts";
import { findByKey, storeIdempotencyKey } from "../apps/idempotency.ts";
import { lockExistingApp } from "../apps/lock-app.ts";
import type { Db } from "../database-types.ts";
import type { Plans } from "../plans/plans.ts";
import type { JobQueue } from "../ports/job-queue.ts";
import type { Caller } from "../shared/caller.ts";
import { inTransaction } from "../shared/transaction.ts";
import { type DeploymentView, selectDeployments, toDeploymentView } from "./deployment-view.ts";
import { Deployment } from "./deployment.entity.ts";
import { enqueueDeployment } from "./enqueue-deployment.ts";

export interface AddDeploymentDeps {
  em: EntityManager;
  db: Db;
  plans: Plans;
  jobs: JobQueue;
  tokenSecret: string;
}

/** What the caller requests, and the key that makes repeating the request safe. */
export interface DeploymentRequest {
  caller: Pick<Caller, "orgId" | "userId">;
  appId: string;
  /** Everything that the caller chose, to recognize a repeated request. */
  request: object;
  idempotencyKey: string | null;
  /** The id of the deployment, for a caller that records it in the same transaction; by default a new one. */
  deploymentId?: string;
}

/** What differs between the deployments that an existing app can get. */
export type DeploymentSource = Pick<
  NewDeployment,
  | "trigger"
  | "repo"
  | "archiveId"
  | "gitHost"
  | "branch"
  | "branchIsDefault"
  | "commit"
  | "requestedCommit"
  | "customization"
  | "rootDirectory"
  | "buildNetwork"
  | "requestedRuntime"
  | "rollbackToId"
  | "promotedFromId"
  | "promotedFrom"
>;

/** The source of a deployment that uses the bundle of an earlier one again. */
export function sourceOfKept(kept: Deployment): Omit<DeploymentSource, "trigger"> {
  const { repo = null, branch = null, commit = null, customization = null, rootDirectory = null } = kept;
  const { archiveId = null, requestedRuntime = null, gitHost = null, buildNetwork } = kept;
  return {
    repo,
    archiveId,
    gitHost,
    branch,
    branchIsDefault: false,
    commit,
    customization,
    rootDirectory,
    buildNetwork,
    requestedRuntime,
  };
}

/**
 * Records a further deployment of an app and queues it, both in one transaction. It replaces a deployment of the app that
 * still waits for a worker, and starts when the one that is in progress has ended.
 *
 * @param chooseSource - called with the locked app
 * @throws {ServiceError} `not_found` when the organization has no such app; `conflict` while it is being deleted;
 *   `plan_limit` when the app does not count against the plan because it was never live, and the plan is full;
 *   `key_reused` or `conflict` for the idempotency key
 */
export async function addDeployment(
  deps: AddDeploymentDeps,
  call: DeploymentRequest,
  chooseSource: (em: EntityManager, app: App) => Promise<DeploymentSource>,
): Promise<DeploymentView> {
  const id = await inTransaction(deps.em, (em) => recordDeployment(em, deps, call, chooseSource));
  const row = await selectDeployments(deps.db, { orgId: call.caller.orgId, appId: call.appId })
    .where("deployments.id", "=", id)
    .executeTakeFirst();
  // Only if the app was deleted since.
  if (row === undefined) throw appNotFound();
  return toDeploymentView(row);
}

async function recordDeployment(
  em: EntityManager,
  { plans, jobs, tokenSecret }: AddDeploymentDeps,
  { caller: { orgId, userId: createdBy }, appId, request, idempotencyKey, deploymentId }: DeploymentRequest,
  chooseSource: (em: EntityManager, app: App) => Promise<DeploymentSource>,
): Promise<string> {
  const organization = await lockOrganization(em, orgId);
  const repeatable =
    idempotencyKey === null
      ? null
      : { orgId, key: idempotencyKey, request: { ...request, app_id: appId }, tokenSecret };
  const earlier = repeatable === null ? null : await findByKey(em, repeatable);
  if (earlier?.deploymentId) return earlier.deploymentId;
  const app = await lockExistingApp(em, { id: appId, orgId });
  if (!countsInPlan(app)) await checkAppQuota(em, plans, organization);
  const source = await chooseSource(em, app);
  const [newest] = await em.find(Deployment, { appId }, { orderBy: { number: "desc" }, limit: 1 });
  const number = (newest?.number ?? 0) + 1;
  await supersedeWaiting(em, jobs, { appId, orgId, number });
  const id = deploymentId ?? randomUUID();
  em.assign(app, { latestDeploymentId: id, status: "queued", statusMessage: null, error: null });
  if (repeatable !== null) storeIdempotencyKey(em, repeatable, app);
  await enqueueDeployment(em, jobs, { ...source, id, appId, orgId, createdBy, number });
  return id;
}

/** One that a worker has started stays: it may have changed the app's resources. */
async function supersedeWaiting(
  em: EntityManager,
  jobs: JobQueue,
  { appId, orgId, number }: { appId: string; orgId: string; number: number },
): Promise<void> {
  const waiting = { appId, status: "queued", startedAt: null } as const;
  for (const { id: deploymentId } of await em.find(Deployment, { ...waiting, trigger: "push" }, { fields: ["id"] }))
    await jobs.enqueue(em, "commit-status", { deploymentId, orgId });
  await em.nativeUpdate(Deployment, waiting, {
    status: "superseded",
    statusMessage: `Deployment ${number} replaced it before it started.`,
    finishedAt: new Date(),
  });
}
