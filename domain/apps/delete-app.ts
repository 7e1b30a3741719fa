import { setTimeout as delay } from "node:timers/promises";
import { type EntityManager, LockMode } from "@mikro-orm/core";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import type { ChangeFeed } from "../ports/change-feed.ts";
import type { JobQueue } from "../ports/job-queue.ts";
import type { Db } from "../database-types.ts";
import { App } from "./app.entity.ts";
import { appNotFound } from "./app-not-found.ts";

export interface DeleteDeps {
  em: EntityManager;
  db: Db;
  jobs: JobQueue;
  changes: ChangeFeed;
  /** How long a call waits for the teardown, in milliseconds. */
  teardownWaitMs: number;
}

/**
 * Takes an app away: marks it `deleting`, queues its teardown in the same transaction, and waits until the record is
 * gone. Safe to repeat; calls in parallel all wait for the one teardown.
 *
 * @throws {ServiceError} `not_found` when the organization has no such app; `teardown_pending` when the teardown is not
 *   finished in time: it goes on by itself, and the app stays `deleting` until it is true that nothing is left
 */
export async function deleteApp(deps: DeleteDeps, { orgId }: Caller, id: string): Promise<{ status: "deleted" }> {
  await deps.em.fork().transactional((em) => markDeleting(em, deps, { id, orgId }));
  deps.changes.announce(orgId);
  if (await isGone(deps, id)) return { status: "deleted" };
  throw new ServiceError(
    "teardown_pending",
    "The app is being torn down, but not everything is gone yet. It is retried until it is; repeat this call to see whether it has finished.",
  );
}

async function markDeleting(
  em: EntityManager,
  deps: DeleteDeps,
  { id, orgId }: { id: string; orgId: string },
): Promise<void> {
  const app = await em.findOne(App, { id, orgId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (app === null) throw appNotFound();
  if (app.status !== "deleting") {
    app.status = "deleting";
    app.statusMessage = "The app is being torn down.";
    // The fence rises once, so whatever a running build still wants to write is refused from here on.
    app.fence += 1;
  }
  await em.flush();
  await deps.jobs.enqueue(em, "teardown", { appId: id });
}

async function isGone(deps: DeleteDeps, id: string): Promise<boolean> {
  const deadline = Date.now() + deps.teardownWaitMs;
  for (let pause = 10; Date.now() < deadline; pause = Math.min(pause * 2, 250)) {
    const row = await deps.db.selectFrom("apps").select("id").where("id", "=", id).executeTakeFirst();
    if (row === undefined) return true;
    await delay(pause);
  }
  return false;
}
