import { appNotFound } from "../apps/app-not-found.ts";
import { LOG_BUCKET, logKeyOf } from "../apps/app-resources.ts";
import type { AppStatus } from "../apps/app-status.ts";
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
  /** The build log as far as it was written; `null` when there is none in object storage. */
  logs: string | null;
}

/** @throws {ServiceError} `not_found` when the organization has no such app */
export async function readDeploymentLog(
  deps: ReadLogDeps,
  { orgId }: Caller,
  appId: string,
): Promise<DeploymentLogView> {
  const app = await deps.db
    .selectFrom("apps")
    .select(["status", "status_message", "error"])
    .where("id", "=", appId)
    .where("org_id", "=", orgId)
    .executeTakeFirst();
  if (app === undefined) throw appNotFound();
  const log = await deps.objects.get(LOG_BUCKET, logKeyOf(appId));
  return { ...app, logs: log === null ? null : new TextDecoder().decode(log) };
}
