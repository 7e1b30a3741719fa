import { type EntityManager, LockMode } from "@mikro-orm/core";
import { isInProgress } from "../apps/app-status.ts";
import { App, type Manifest } from "../apps/app.entity.ts";
import type { ClaimedDeployment } from "./claim-deployment.ts";
import { type DeploymentStatus, statusesBefore } from "./deployment-status.ts";
import { Deployment } from "./deployment.entity.ts";
import { LeaseLost } from "./lease.ts";
import type { StartedStep } from "./step-times.ts";

/** The details that the app's owner sees with the new status. An omitted field keeps its value. */
export interface StatusDetails {
  statusMessage?: string | null;
  error?: string | null;
  /** The steps so far. */
  steps?: readonly StartedStep[];
  /** Added to the manifest of the app; `null` clears it. */
  manifest?: Manifest | null;
}

/**
 * Changes the status of a claimed deployment in one conditional update. It applies only while the lease's fencing token
 * is the app's newest one and the transition is in the table. The app's copy of status, message and error changes in
 * the same transaction, if this is the app's newest deployment. A final status ends the lease.
 *
 * @param em - in a transaction. It locks the app first and the deployment second, as every writer of both must, so that
 *   two writers never deadlock.
 * @returns the locked app
 * @throws {LeaseLost}
 */
export async function transitionDeployment(
  em: EntityManager,
  { appId, deploymentId, fencingToken }: Pick<ClaimedDeployment, "appId" | "deploymentId" | "fencingToken">,
  status: Exclude<DeploymentStatus, "superseded">,
  { statusMessage, error, steps, manifest }: StatusDetails = {},
): Promise<App> {
  const app = await em.findOne(App, { id: appId, fencingToken }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (app === null) throw new LeaseLost();
  const now = new Date();
  const shown = {
    status,
    ...(statusMessage === undefined ? {} : { statusMessage }),
    ...(error === undefined ? {} : { error }),
  };
  const ended = isInProgress(status) ? {} : { finishedAt: now, leaseRenewedAt: null };
  const changes = { ...shown, ...ended, ...(steps === undefined ? {} : { steps }) };
  const where = { id: deploymentId, fencingToken, status: { $in: statusesBefore(status) } };
  if ((await em.nativeUpdate(Deployment, where, changes)) === 0) throw new LeaseLost();
  if (app.latestDeploymentId === deploymentId) em.assign(app, shown);
  if (manifest !== undefined) app.manifest = manifest === null ? null : { ...app.manifest, ...manifest };
  app.updatedAt = now;
  await em.flush();
  return app;
}
