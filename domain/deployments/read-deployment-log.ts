import { LOG_BUCKET } from "../apps/app-resources.ts";
import type { AppStatus } from "../apps/app-status.ts";
import { appNotFound } from "../apps/get-app.ts";
import type { Db } from "../database-types.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import type { Caller } from "../shared/caller.ts";
import type { DeploymentStatus } from "./deployment-status.ts";
import { deploymentNotFound } from "./list-deployments.ts";

export interface ReadLogDeps {
  db: Db;
  objects: ObjectStore;
}

export interface DeploymentLogView {
  status: AppStatus;
  status_message: string | null;
  error: string | null;
  /** The part of the log that is written so far; `null` when object storage has none. */
  logs: string | null;
}

/**
 * Reads the log of an app's newest deployment.
 *
 * @throws {ServiceError} `not_found` when the organization has no such app
 */
export async function readDeploymentLog(
  deps: ReadLogDeps,
  { orgId }: Caller,
  appId: string,
): Promise<DeploymentLogView> {
  const row = await selectLog(deps.db, { orgId, appId }, undefined)
    .select(["apps.status", "apps.status_message", "apps.error"])
    .executeTakeFirst();
  if (row === undefined) throw appNotFound();
  const { log_key: key, ...shown } = row;
  return { ...shown, logs: await readLog(deps, key) };
}

/** The log of one deployment, with the deployment's own status. */
export interface NumberedLogView extends Omit<DeploymentLogView, "status"> {
  status: DeploymentStatus;
}

/**
 * Reads the log of one deployment of an app.
 *
 * @throws {ServiceError} `not_found` when the organization has no such app, or the app has no such deployment
 */
export async function readLogOfDeployment(
  deps: ReadLogDeps,
  { orgId }: Caller,
  { id, number }: { id: string; number: number },
): Promise<NumberedLogView> {
  const row = await selectLog(deps.db, { orgId, appId: id }, number)
    .select(["deployments.status", "deployments.status_message", "deployments.error"])
    .executeTakeFirst();
  if (row === undefined) throw deploymentNotFound();
  const { log_key: key, ...shown } = row;
  return { ...shown, logs: await readLog(deps, key) };
}

/**
 * Selects the key of the log of one deployment of an app, of the newest one without a number; none of another organization's
 * app.
 */
export function selectLog(db: Db, { orgId, appId }: { orgId: string; appId: string }, number: number | undefined) {
  const logs = db
    .selectFrom("apps")
    .innerJoin("deployments", "deployments.app_id", "apps.id")
    .select("deployments.log_key")
    .where("apps.id", "=", appId)
    .where("apps.org_id", "=", orgId);
  return number === undefined
    ? logs.whereRef("deployments.id", "=", "apps.latest_deployment_id")
    : logs.where("deployments.number", "=", number);
}

async function readLog({ objects }: ReadLogDeps, key: string): Promise<string | null> {
  const log = await objects.get(LOG_BUCKET, key);
  return log === null ? null : new TextDecoder().decode(log);
}
