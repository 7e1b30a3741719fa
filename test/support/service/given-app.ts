import { randomUUID } from "node:crypto";
import type { EntityManager } from "@mikro-orm/core";
import { App } from "../../../domain/apps/app.entity.ts";
import { deploymentLogKey } from "../../../domain/apps/app-resources.ts";
import { type AppStatus, isInProgress } from "../../../domain/apps/app-status.ts";
import { slugFor } from "../../../domain/apps/slug.ts";
import type { ClaimedDeployment } from "../../../domain/deployments/claim-deployment.ts";
import { Deployment } from "../../../domain/deployments/deployment.entity.ts";

export interface GivenApp {
  status?: AppStatus;
  name?: string;
  createdAt?: Date;
  /** Why the deployment failed. */
  error?: string;
  /** The current step, or what to do about a failure. */
  statusMessage?: string;
}

/** Records an app and its first deployment as if the deployment had reached `status`. Nothing is built. */
export function givenApp(
  em: EntityManager,
  owner: { org_id: string; user_id: string },
  { status = "ready", name = "demo", createdAt = new Date(), error, statusMessage }: GivenApp = {},
): App {
  const [id, deploymentId] = [randomUUID(), randomUUID()];
  const source = { orgId: owner.org_id, createdBy: owner.user_id, repo: `acme/${name}`, branch: "main", createdAt };
  const isLive = status === "ready" || status === "deleting";
  em.create(Deployment, {
    ...source,
    id: deploymentId,
    appId: id,
    number: 1,
    trigger: "deploy",
    logKey: deploymentLogKey(id, 1),
    status: status === "deleting" ? "ready" : status,
    finishedAt: isInProgress(status) ? null : createdAt,
  });
  return em.create(App, {
    ...source,
    id,
    name,
    slug: slugFor(name),
    status,
    latestDeploymentId: deploymentId,
    liveDeploymentId: isLive ? deploymentId : null,
    error: error ?? null,
    statusMessage: statusMessage ?? null,
  });
}

/** The ids of an app's newest deployment, as `replaceProcedures` requires them. */
export function newestDeployment({ id, orgId, latestDeploymentId }: App) {
  return { deploymentId: latestDeploymentId, appId: id, orgId };
}

/** The newest deployment of an app, as `claimDeployment` returns it to a worker. */
export function claimedDeployment(app: App): ClaimedDeployment {
  const { slug, repo, branch, fencingToken, tokenVersion } = app;
  const logKey = deploymentLogKey(app.id, 1);
  const source = {
    slug,
    repo: repo ?? null,
    archiveId: null,
    importKey: null,
    gitHost: null,
    branch: branch ?? null,
    branchIsDefault: false,
    requestedCommit: null,
    customization: null,
  };
  const build = { rootDirectory: null, buildNetwork: false, requestedRuntime: null };
  const origin = { trigger: "deploy", rollbackToId: null, promotedFromId: null, promotedFrom: null } as const;
  const request = { number: 1, ...origin, isCanceled: false, logKey };
  return { ...newestDeployment(app), ...source, ...build, ...request, fencingToken, tokenVersion, attempt: 1 };
}

/** Records a further deployment of an app. Returns it as `claimDeployment` returns it to a worker. */
export async function givenSecondDeployment(
  em: EntityManager,
  app: App,
  status: "queued" | "provisioning",
  number = 2,
): Promise<ClaimedDeployment> {
  const fencingToken = app.fencingToken + 1;
  const deploymentId = randomUUID();
  const logKey = deploymentLogKey(app.id, number);
  const { id: appId, orgId, repo, branch } = app;
  const numbered = { number, trigger: "redeploy", logKey } as const;
  await em.transactional(async (tx) => {
    tx.create(Deployment, { id: deploymentId, appId, orgId, repo, branch, ...numbered, status, fencingToken });
    await tx.nativeUpdate(App, { id: appId }, { latestDeploymentId: deploymentId, status, fencingToken });
  });
  return { ...claimedDeployment(app), deploymentId, logKey, fencingToken };
}
