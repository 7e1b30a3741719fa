import { IN_PROGRESS } from "../apps/app-status.ts";
import { App } from "../apps/app.entity.ts";
import { type AuthEntryDeps, syncStaleAuthEntries } from "../apps/sync-auth-entry.ts";
import type { JobQueue } from "../ports/job-queue.ts";
import { inTransaction } from "../shared/transaction.ts";
import { Deployment } from "./deployment.entity.ts";
import { queueOf } from "./enqueue-deployment.ts";
import type { AppPlatform } from "./release-resources.ts";
import { removeOrphans } from "./remove-orphans.ts";
import { removeUnusedDependencies, type UnusedDependenciesDeps } from "./remove-unused-dependencies.ts";

export interface SweepDeps extends AppPlatform, AuthEntryDeps, UnusedDependenciesDeps {
  jobs: JobQueue;
}

/** What a sweep removed or queued again. */
export interface SweepReport {
  orphans: string[];
  teardowns: number;
  deployments: number;
  authEntries: number;
}

/** Work that no worker has touched for this long, and that is not queued, is queued again. In milliseconds. */
const STALLED_MS = 60_000;

/**
 * Repairs the possible results of a crash: orphaned resources and dependencies, teardowns and deployments without a job,
 * and auth entries that do not match the app's token.
 */
export async function sweep(deps: SweepDeps): Promise<SweepReport> {
  const teardowns = await requeueTeardowns(deps);
  const deployments = await requeueDeployments(deps);
  const authEntries = await syncStaleAuthEntries(deps);
  const unused = await removeUnusedDependencies(deps, await deps.dependencies.list());
  // Last, so that a provider that is down does not delay the repair of any app.
  const orphans = await removeOrphans(deps);
  orphans.push(...unused.map((orgId) => `dependencies of organization ${orgId}`));
  return { orphans, teardowns, deployments, authEntries };
}

async function requeueTeardowns({ em, jobs }: SweepDeps): Promise<number> {
  const stalled = { status: "deleting" as const, updatedAt: { $lt: new Date(Date.now() - STALLED_MS) } };
  const apps = await em.fork().find(App, stalled, { fields: ["id"] });
  const queued = new Set((await jobs.listWaiting("teardown")).map((job) => job.appId));
  const unqueued = apps.filter((app) => !queued.has(app.id));
  for (const app of unqueued) await inTransaction(em, (tx) => jobs.enqueue(tx, "teardown", { appId: app.id }));
  return unqueued.length;
}

/** A second job for a deployment does no harm: its worker finds the lease taken, and later the deployment finished. */
async function requeueDeployments({ em, jobs }: SweepDeps): Promise<number> {
  const stalledSince = new Date(Date.now() - STALLED_MS);
  const inProgress = await em
    .fork()
    .find(
      Deployment,
      { status: { $in: [...IN_PROGRESS] } },
      { fields: ["id", "appId", "orgId", "trigger", "leaseRenewedAt"], orderBy: { number: "desc" } },
    );
  // The first of each app. The others wait for its end, which queues them.
  const first = [...new Map(inProgress.map((deployment) => [deployment.appId, deployment])).values()];
  const deployments = first.filter(({ leaseRenewedAt }) => !leaseRenewedAt || leaseRenewedAt < stalledSince);
  const waiting = [...(await jobs.listWaiting("deployment")), ...(await jobs.listWaiting("rollback"))];
  const queued = new Set(waiting.map((job) => job.deploymentId));
  const unqueued = deployments.filter(({ id }) => !queued.has(id));
  for (const deployment of unqueued)
    await em
      .fork()
      .transactional((tx) =>
        jobs.enqueue(tx, queueOf(deployment), { deploymentId: deployment.id, orgId: deployment.orgId }),
      );
  return unqueued.length;
}
