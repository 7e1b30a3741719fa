import type { EntityManager } from "@mikro-orm/core";
import type { Db } from "../database-types.ts";
import type { ChangeFeed } from "../ports/change-feed.ts";
import type { JobQueue } from "../ports/job-queue.ts";
import { pollUntil } from "../shared/back-off.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { inTransaction } from "../shared/transaction.ts";
import { App } from "./app.entity.ts";
import { lockApp } from "./lock-app.ts";

export interface DeleteDeps {
  em: EntityManager;
  db: Db;
  jobs: JobQueue;
  changes: ChangeFeed;
  /** Makes the search not find the procedures of an app, in the transaction of `em`. */
  hideProcedures(em: EntityManager, appId: string): Promise<void>;
  /** How long a call waits for the teardown, in milliseconds. */
  teardownWaitMs: number;
}

/**
 * Deletes an app: marks it `deleting`, queues its teardown in the same transaction, and waits until the record is gone.
 * Safe to repeat. Parallel calls all wait for the same teardown.
 *
 * @throws {ServiceError} `not_found` when the organization has no such app; `conflict` while it has environments; `teardown_pending` when the teardown does not
 *   finish in time. The queue then continues it, and the app stays `deleting` until all of its resources are removed.
 */
export async function deleteApp(deps: DeleteDeps, { orgId }: Caller, id: string): Promise<{ status: "deleted" }> {
  await inTransaction(deps.em, (em) => markDeleting(em, deps, { id, orgId }));
  deps.changes.announce(orgId);
  if (await waitForRemoval(deps, id)) return { status: "deleted" };
  throw new ServiceError(
    "teardown_pending",
    "The app is being deleted, but some of its resources still exist. The service retries until all are removed. Repeat this call to see whether it has finished.",
  );
}

async function markDeleting(
  em: EntityManager,
  { jobs, hideProcedures }: Pick<DeleteDeps, "jobs" | "hideProcedures">,
  where: { id: string; orgId: string },
): Promise<void> {
  const app = await lockApp(em, where);
  await checkHasNoEnvironments(em, where.id);
  if (app.status !== "deleting") {
    app.status = "deleting";
    app.statusMessage = "The app is being torn down.";
    // A new fencing token, so that every later write of a worker that is deploying the app is refused.
    app.fencingToken += 1;
  }
  await em.flush();
  await hideProcedures(em, where.id);
  await jobs.enqueue(em, "teardown", { appId: where.id });
}

/**
 * Environments have data of their own, so they are not deleted with their production app. The app is locked, as it is while
 * an environment is created.
 */
async function checkHasNoEnvironments(em: EntityManager, parentId: string): Promise<void> {
  const environments = await em.find(
    App,
    { parentId, status: { $ne: "deleting" } },
    { orderBy: { environment: "asc" } },
  );
  if (environments.length === 0) return;
  const names = environments.map(({ environment, slug }) => `${environment} (${slug})`).join(", ");
  throw new ServiceError("conflict", `The app has environments: ${names}. Delete these apps first.`);
}

async function waitForRemoval(deps: DeleteDeps, id: string): Promise<boolean> {
  const row = await pollUntil(
    () => deps.db.selectFrom("apps").select("id").where("id", "=", id).executeTakeFirst(),
    (state) => state === undefined,
    Date.now() + deps.teardownWaitMs,
  );
  return row === undefined;
}
