import { randomUUID } from "node:crypto";
import type { EntityManager } from "@mikro-orm/core";
import { App } from "../apps/app.entity.ts";
import { appNotFound } from "../apps/get-app.ts";
import { lockExistingApp } from "../apps/lock-app.ts";
import { PushEndpoint } from "../push-records/push-endpoint.entity.ts";
import { checkBranch } from "../repositories/repository-rules.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { inTransaction } from "../shared/transaction.ts";
import { checkPathPatterns } from "./path-patterns.ts";
import {
  createSecret,
  type PushEndpointDeps,
  type PushSettings,
  sealSecret,
  toPushSettings,
} from "./push-endpoint-rules.ts";

export interface ConfigurePushDeps extends PushEndpointDeps {
  em: EntityManager;
}

/** An omitted field keeps its value. */
export interface ConfigurePush {
  id: string;
  enabled: boolean;
  /** `null` for the branch of the app. */
  branch?: string | null | undefined;
  paths?: string[] | undefined;
  /** Whether the git host is told how deployments end. */
  statuses?: boolean | undefined;
  /** Whether the service also looks for new commits itself. */
  poll?: boolean | undefined;
}

/** @throws {ServiceError} `not_found` when the organization has no such app */
export async function getPushSettings(deps: ConfigurePushDeps, { orgId }: Caller, id: string): Promise<PushSettings> {
  const em = deps.em.fork();
  const app = await em.findOne(App, { id, orgId });
  if (app === null) throw appNotFound();
  return toPushSettings(deps, app, await em.findOne(PushEndpoint, { appId: id, orgId }));
}

/**
 * Switches push to deploy of an app on or off. The first time, it creates the URL and the secret for the git host. Both stay when it
 * is switched off and on again.
 *
 * @throws {ServiceError} `not_found` when the organization has no such app; `conflict` while it is being deleted, and for an app without a repository; `invalid` for a
 *   branch or a pattern that is not allowed
 */
export async function configurePush(
  deps: ConfigurePushDeps,
  { orgId }: Caller,
  { id: appId, enabled, branch, paths, statuses, poll }: ConfigurePush,
): Promise<PushSettings> {
  if (typeof branch === "string") checkBranch(branch);
  if (paths !== undefined) checkPathPatterns(paths);
  return inTransaction(deps.em, async (em) => {
    const app = await lockExistingApp(em, { id: appId, orgId });
    if (enabled && !app.repo)
      throw new ServiceError(
        "conflict",
        "The app has no repository, so no push can deploy it. Deploy it with svc deploy.",
      );
    const existing = await em.findOne(PushEndpoint, { appId });
    if (existing === null && !enabled) return toPushSettings(deps, app, null);
    const secret = existing === null ? createSecret() : null;
    const endpoint = existing ?? createEndpoint(deps, em, { appId, orgId }, secret ?? "");
    endpoint.isEnabled = enabled;
    if (branch !== undefined) endpoint.branch = branch;
    if (paths !== undefined) endpoint.paths = paths;
    if (statuses !== undefined) endpoint.reportsStatuses = statuses;
    if (poll !== undefined) endpoint.polls = poll;
    const isPolled = enabled && endpoint.polls;
    if (!isPolled || branch !== undefined) endpoint.polledCommit = null;
    endpoint.nextPollAt = isPolled ? (endpoint.nextPollAt ?? new Date()) : null;
    await em.flush();
    return toPushSettings(deps, app, endpoint, secret);
  });
}

function createEndpoint(
  deps: PushEndpointDeps,
  em: EntityManager,
  owner: { appId: string; orgId: string },
  secret: string,
): PushEndpoint {
  const id = randomUUID();
  const sealedSecret = sealSecret(deps, id, secret);
  const chosen = { isEnabled: true, paths: [], reportsStatuses: true, polls: false };
  return em.create(PushEndpoint, { ...owner, ...chosen, id, sealedSecret });
}

/**
 * Replaces the secret of an app's endpoint. Deliveries that the previous one signed are refused from now on.
 *
 * @throws {ServiceError} `not_found` when the organization has no such app; `conflict` while it is being deleted, or if it has no
 *   endpoint yet
 */
export async function rotatePushSecret(
  deps: ConfigurePushDeps,
  { orgId }: Caller,
  appId: string,
): Promise<PushSettings> {
  return inTransaction(deps.em, async (em) => {
    const app = await lockExistingApp(em, { id: appId, orgId });
    const endpoint = await em.findOne(PushEndpoint, { appId });
    if (endpoint === null) throw new ServiceError("conflict", "Switch push to deploy on first: it creates the secret.");
    const secret = createSecret();
    endpoint.sealedSecret = sealSecret(deps, endpoint.id, secret);
    await em.flush();
    return toPushSettings(deps, app, endpoint, secret);
  });
}
