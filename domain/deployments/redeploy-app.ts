import type { EntityManager } from "@mikro-orm/core";
import type { App } from "../apps/app.entity.ts";
import { checkCustomization } from "../apps/customization-text-rules.ts";
import { checkBranch } from "../repositories/repository-rules.ts";
import type { AppBuilder } from "../ports/app-builder-agent.ts";
import type { Caller } from "../shared/caller.ts";
import { addDeployment, type AddDeploymentDeps, type DeploymentSource } from "./add-deployment.ts";
import type { DeploymentView } from "./deployment-view.ts";
import { Deployment } from "./deployment.entity.ts";

export interface RedeployDeps extends AddDeploymentDeps {
  /** `null` when no app builder agent is configured. */
  appBuilder: AppBuilder | null;
}

export interface Redeploy {
  id: string;
  /** The app's own branch without it. */
  branch?: string | undefined;
  /** The newest commit of the branch without it. */
  commit?: string | undefined;
  /** That of the newest deployment without it; `null` for none. */
  customization?: string | null | undefined;
}

/**
 * Queues a deployment of the newest commit of an app, or of the given one. The live deployment serves until the new one
 * is ready. The app keeps its branch.
 *
 * @param idempotencyKey - repeating a call with the same key returns the deployment of the first call
 * @throws {ServiceError} `invalid` for a branch or customization that is not allowed, and those of `addDeployment`
 */
export async function redeployApp(
  deps: RedeployDeps,
  caller: Caller,
  { id: appId, ...request }: Redeploy,
  idempotencyKey: string | null,
): Promise<DeploymentView> {
  if (request.branch !== undefined) checkBranch(request.branch);
  checkCustomization(request.customization ?? undefined, deps.appBuilder);
  return addDeployment(deps, { caller, appId, request, idempotencyKey }, (em, app) =>
    redeploymentOf(em, app, "redeploy", request),
  );
}

/** What a further deployment of an app deploys. */
export async function redeploymentOf(
  em: EntityManager,
  app: App,
  trigger: "redeploy" | "push",
  request: Omit<Redeploy, "id">,
): Promise<DeploymentSource> {
  const newest = await em.findOneOrFail(Deployment, { id: app.latestDeploymentId });
  const first = await em.findOneOrFail(Deployment, { appId: app.id, number: 1 });
  return {
    trigger,
    repo: app.repo,
    gitHost: app.gitHost ?? null,
    branch: request.branch ?? app.branch,
    branchIsDefault: request.branch === undefined && first.branchIsDefault,
    requestedCommit: request.commit ?? null,
    customization: request.customization === undefined ? (newest.customization ?? null) : request.customization,
    rootDirectory: app.rootDirectory ?? null,
    buildNetwork: app.buildNetwork,
    requestedRuntime: app.requestedRuntime ?? null,
  };
}
