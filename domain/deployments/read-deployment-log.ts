import { LOG_BUCKET } from "../apps/app-resources.ts";
import type { AppStatus } from "../apps/app-status.ts";
import { appNotFound } from "../apps/get-app.ts";
import type { Caller } from "../shared/caller.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import type { Db } from "../database-types.ts";

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
  const row = await deps.db
    .selectFrom("apps")
    .innerJoin("deployments", "deployments.id", "apps.latest_deployment_id")
    .select(["apps.status", "apps.status_message", "apps.error", "deployments.log_key"])
    .where("apps.id", "=", appId)
    .where("apps.org_id", "=", orgId)
    .executeTakeFirst();
  if (row === undefined) throw appNotFound();
  const { log_key: key, ...shown } = row;
  const log = await deps.objects.get(LOG_BUCKET, key);
  return { ...shown, logs: log === null ? null : new TextDecoder().decode(log) };
}
