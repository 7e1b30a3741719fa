import { type EntityManager, LockMode } from "@mikro-orm/core";
import { App } from "../apps/app.entity.ts";
import { addDeployment, type AddDeploymentDeps, sourceOfKept } from "../deployments/add-deployment.ts";
import type { DeploymentView } from "../deployments/deployment-view.ts";
import { Deployment } from "../deployments/deployment.entity.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { PRODUCTION } from "./environment-rules.ts";

export interface PromoteApp {
  /** The id of the app that gets the code: mostly the production app. */
  id: string;
  /** The name of the environment that has it. */
  from: string;
  /** The number of the deployment that the caller has seen live there. Without it, the one that is. */
  number?: number | undefined;
}

/**
 * Queues a deployment of an app from the bundle of the live deployment of another environment of it. Nothing is built. The
 * app keeps its branch, variables and data; migrations of the bundle are applied.
 *
 * @param idempotencyKey - repeating a call with the same key returns the deployment of the first call
 * @throws {ServiceError} `not_found` when the app has no such environment; `conflict` when nothing is live there, another
 *   deployment than `number` is, its bundle is not kept, or this app serves it already; and those of `addDeployment`
 */
export function promoteApp(
  deps: AddDeploymentDeps,
  caller: Caller,
  { id: appId, from, number }: PromoteApp,
  idempotencyKey: string | null,
): Promise<DeploymentView> {
  const call = { caller, appId, request: { promote_from: from, number }, idempotencyKey };
  return addDeployment(deps, call, async (em, app) => {
    const promoted = await findLive(em, await lockEnvironment(em, app, from), { from, number });
    await checkIsNotLive(em, app, promoted, from);
    return { ...sourceOfKept(promoted), trigger: "promotion", promotedFromId: promoted.id, promotedFrom: from };
  });
}

/**
 * Locks the environment, so that its bundle is not removed before the promotion is recorded. The organization is locked, so
 * no other promotion waits for the two apps in the opposite order.
 *
 * @throws {ServiceError} `not_found`, `conflict`
 */
async function lockEnvironment(em: EntityManager, app: App, name: string): Promise<App> {
  const { orgId } = app;
  const productionId = app.parentId ?? app.id;
  const where = name === PRODUCTION ? { id: productionId } : { parentId: productionId, environment: name };
  const environment = await em.findOne(App, { ...where, orgId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (environment === null) {
    const others = await em.find(App, { parentId: productionId, orgId }, { orderBy: { environment: "asc" } });
    const names = [PRODUCTION, ...others.map((other) => other.environment)].join(", ");
    throw new ServiceError("not_found", `The app has no environment with this name. It has: ${names}.`);
  }
  if (environment.id === app.id)
    throw new ServiceError("conflict", `from: the app is ${name} itself. Name the environment whose code it gets.`);
  if (environment.status === "deleting")
    throw new ServiceError("conflict", `The environment ${name} is being deleted.`);
  return environment;
}

/** @throws {ServiceError} `conflict` */
async function findLive(
  em: EntityManager,
  { liveDeploymentId }: App,
  { from, number }: Pick<PromoteApp, "from" | "number">,
): Promise<Deployment> {
  const live = liveDeploymentId ? await em.findOne(Deployment, { id: liveDeploymentId }) : null;
  if (live === null)
    throw new ServiceError("conflict", `Nothing is live in ${from} yet. Wait until a deployment of it is ready.`);
  if (number !== undefined && live.number !== number)
    throw new ServiceError("conflict", `Deployment ${number} of ${from} is not live. Deployment ${live.number} is.`);
  if (!live.artifactKey)
    throw new ServiceError("conflict", `Deployment ${live.number} of ${from} has no kept bundle. Deploy it again.`);
  return live;
}

/** @throws {ServiceError} `conflict` */
async function checkIsNotLive(em: EntityManager, app: App, promoted: Deployment, from: string): Promise<void> {
  const live = app.liveDeploymentId ? await em.findOne(Deployment, { id: app.liveDeploymentId }) : null;
  if (live?.promotedFromId !== promoted.id) return;
  throw new ServiceError("conflict", `Deployment ${promoted.number} of ${from} is live here already.`);
}
