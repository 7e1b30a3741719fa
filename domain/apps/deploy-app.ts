import { type EntityManager, UniqueConstraintViolationException } from "@mikro-orm/core";
import type { Caller } from "../shared/caller.ts";
import type { Plans } from "../plans/plans.ts";
import { checkPlanSlot, lockOrganization } from "./plan-slots.ts";
import type { AppBuilder } from "../ports/app-builder.ts";
import { App } from "./app.entity.ts";
import { appToken } from "./app-token.ts";
import { checkCustomization } from "./customization-rules.ts";
import { appOfKey, rememberKey } from "./idempotency.ts";
import { countAppsInPlan } from "./plan-usage.ts";
import { checkBranch, checkRepo } from "./repository-rules.ts";
import { slugFor } from "./slug.ts";

/** What the first build of an app is made from. */
export interface NewDeployment {
  appId: string;
  repo: string;
  branch: string;
  customization: string | null;
}

export interface DeployDeps {
  em: EntityManager;
  plans: Plans;
  /** Records a build and queues it, in the transaction of `em`. */
  enqueueDeployment(em: EntityManager, build: NewDeployment): Promise<void>;
  /** `null` when no app builder agent is configured. */
  appBuilder: AppBuilder | null;
  tokenSecret: string;
  urlOf(slug: string): string;
}

export interface DeployApp {
  repo: string;
  branch: string;
  customization?: string | undefined;
}

export interface DeployedApp {
  app_id: string;
  slug: string;
  app_token: string;
  url: string;
}

/** A clash of random slugs is settled by the next try. */
const TRIES = 3;

/**
 * Records a new app and queues its first build. Both commit together, so a crash never leaves one without the other.
 *
 * @param idempotencyKey - repeating a call with the same key returns the app of the first call
 * @throws {ServiceError} `invalid` for a repository, branch or customization that is not allowed; `plan_limit` when the
 *   organization's plan has no room for another app; `key_reused` or `conflict` for the
 *   idempotency key
 */
export async function deployApp(
  deps: DeployDeps,
  caller: Caller,
  request: DeployApp,
  idempotencyKey: string | null,
): Promise<DeployedApp> {
  checkRepo(request.repo);
  checkBranch(request.branch);
  checkCustomization(request.customization, deps.appBuilder);
  for (let tried = 1; ; tried++) {
    try {
      return deployed(
        deps,
        await deps.em.fork().transactional((em) => record(em, deps, { caller, request, key: idempotencyKey })),
      );
    } catch (error) {
      if (!(error instanceof UniqueConstraintViolationException) || tried === TRIES) throw error;
    }
  }
}

interface DeployCall {
  caller: Caller;
  request: DeployApp;
  key: string | null;
}

async function record(em: EntityManager, deps: DeployDeps, { caller, request, key }: DeployCall): Promise<App> {
  const { orgId, userId } = caller;
  const organization = await lockOrganization(em, orgId);
  // Under the lock, so that of parallel calls with one key the second finds the app of the first, and not a full plan.
  const earlier = key === null ? null : await appOfKey(em, orgId, key, request);
  if (earlier !== null) return earlier;
  checkPlanSlot(deps.plans, organization, await countAppsInPlan(em, orgId));
  const { repo, branch, customization = null } = request;
  const name = repo.slice(repo.indexOf("/") + 1);
  const app = em.create(App, { orgId, createdBy: userId, name, slug: slugFor(name), repo, branch, status: "queued" });
  if (key !== null) rememberKey(em, orgId, key, request, app.id);
  await em.flush();
  await deps.enqueueDeployment(em, { appId: app.id, repo, branch, customization });
  return app;
}

function deployed(deps: DeployDeps, app: App): DeployedApp {
  return { app_id: app.id, slug: app.slug, app_token: appToken(deps.tokenSecret, app), url: deps.urlOf(app.slug) };
}
