import type { EntityManager } from "@mikro-orm/core";
import type { App } from "../apps/app.entity.ts";
import { lockExistingApp } from "../apps/lock-app.ts";
import type { JobQueue } from "../ports/job-queue.ts";
import { inTransaction } from "../shared/transaction.ts";
import { type ApplyStatus, type ApplyStatusDeps, waitUntilApplied } from "./apply-status.ts";

export interface ChangeDeps extends ApplyStatusDeps {
  em: EntityManager;
  jobs: JobQueue;
}

/**
 * Changes the variables of an app. The change and the job that restarts the app commit together, so the app has the change
 * after a crash too. Then waits a limited time until the app has restarted.
 *
 * @param change - runs in the transaction, with the app locked. Returns whether a value or a flag has changed.
 * @throws {ServiceError} `not_found` when the organization has no such app; `conflict` while it is being deleted
 */
export async function changeVariables(
  deps: ChangeDeps,
  where: { id: string; orgId: string },
  change: (em: EntityManager, app: App) => Promise<boolean>,
): Promise<ApplyStatus> {
  const version = await inTransaction(deps.em, async (em) => {
    const app = await lockExistingApp(em, where);
    if (await change(em, app)) {
      app.variablesVersion += 1;
      await deps.jobs.enqueue(em, "variables", { appId: app.id, orgId: app.orgId });
    }
    await em.flush();
    return app.variablesVersion;
  });
  return waitUntilApplied(deps, where.id, version);
}
