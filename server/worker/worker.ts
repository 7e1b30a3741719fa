import { removeLostImports } from "../../domain/exports/import-objects.ts";
import { removeLostArchives, removeUnusedArchives } from "../../domain/archives/remove-unused-archives.ts";
import { removeUnusedWorkspaces } from "../../domain/agent-workspaces/remove-unused-workspaces.ts";
import { DeploymentIsLeased } from "../../domain/deployments/claim-deployment.ts";
import { LeaseLost } from "../../domain/deployments/lease.ts";
import { type DeploymentDeps, runDeployment, RetryDeployment } from "../../domain/deployments/run-deployment.ts";
import { sweep } from "../../domain/deployments/sweep.ts";
import { tearDownApp } from "../../domain/deployments/tear-down-app.ts";
import { removeDeletedEntries } from "../../domain/retention/deleted-sessions.ts";
import { purgeExpiredRecords, type Retention } from "../../domain/retention/purge-expired-records.ts";
import { sanitizeLog } from "../../domain/shared/sanitize-log.ts";
import { enqueueDueSources } from "../../domain/knowledge-sources/manage-sources.ts";
import type { ReadSourceDeps } from "../../domain/knowledge-sources/read-source.ts";
import { runSourceJob } from "../../domain/knowledge-sources/run-source-job.ts";
import { deployPush, type DeployPushDeps } from "../../domain/push-to-deploy/deploy-push.ts";
import { pollBranch } from "../../domain/push-to-deploy/poll-branch.ts";
import { reportCommitStatus, type ReportStatusDeps } from "../../domain/push-to-deploy/report-commit-status.ts";
import type { AgentWorkspaces } from "../../domain/ports/agent-workspaces.ts";
import type { Jobs, QueueName } from "../../domain/ports/job-queue.ts";
import { applyVariables } from "../../domain/variables/apply-variables.ts";
import { Leadership } from "../database/leadership.ts";
import { startPeriodicTasks, type TaskOptions } from "./periodic-tasks.ts";

export interface WorkerOptions extends TaskOptions {
  deps: DeploymentDeps;
  /** Reads the sources of Company Knowledge. */
  sources: ReadSourceDeps;
  pushes: TaskOptions["pushes"] & DeployPushDeps & ReportStatusDeps;
  agentWorkspaces: AgentWorkspaces;
  retention: Retention;
  /** How many deployments run at once. */
  buildConcurrency: number;
  /** The database that several workers share, so that one of them does what is due periodically; `null` for the only worker. */
  leadership: { url: string } | null;
}

const ROLLBACK_CONCURRENCY = 4;
const TEARDOWN_CONCURRENCY = 4;
const VARIABLES_CONCURRENCY = 4;
/** Each source uses a share of the document reader, and a checkout. */
const SOURCE_CONCURRENCY = 2;
const PUSH_CONCURRENCY = 4;
/** Each starts git in a sandbox. */
const POLL_CONCURRENCY = 2;
/** A sweep removes up to three million entries of deleted sessions. */
const ENTRY_BATCHES = 300;
/** How long a stop waits for running jobs, in milliseconds. */
const STOP_MS = 20_000;
/** Notifications start a job at once. Polling finds jobs whose notification was lost. */
const POLLING = { pollingIntervalSeconds: 1, notifyPollingIntervalSeconds: 2, batchSize: 1 } as const;

/** Runs deployments, teardowns and sweeps from the queue. */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #stop = new AbortController();
  #tasks: AsyncDisposable | null = null;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { deps, buildConcurrency, pushes, sources } = this.#options;
    await this.#work("deployment", buildConcurrency, ({ deploymentId }) =>
      runDeployment(deps, deploymentId, this.#stop.signal),
    );
    await this.#work("rollback", ROLLBACK_CONCURRENCY, ({ deploymentId }) =>
      runDeployment(deps, deploymentId, this.#stop.signal),
    );
    await this.#work("teardown", TEARDOWN_CONCURRENCY, ({ appId }) => tearDownApp(deps, appId));
    await this.#work("variables", VARIABLES_CONCURRENCY, ({ appId }) => applyVariables(deps, appId, this.#stop.signal));
    await this.#work("source", SOURCE_CONCURRENCY, ({ sourceId }) =>
      runSourceJob(sources, sourceId, this.#stop.signal),
    );
    await this.#work("push", PUSH_CONCURRENCY, ({ deliveryId }) => deployPush(pushes, deliveryId));
    await this.#work("commit-status", PUSH_CONCURRENCY, ({ deploymentId }) => reportCommitStatus(pushes, deploymentId));
    await this.#work("push-poll", POLL_CONCURRENCY, ({ endpointId }) =>
      pollBranch(pushes, endpointId, this.#stop.signal),
    );
    await this.#work("sweep", 1, () => this.#sweep());
    const { leadership, log } = this.#options;
    const startTasks = () => startPeriodicTasks(this.#options);
    this.#tasks = leadership === null ? startTasks() : new Leadership({ ...leadership, log, begin: startTasks });
  }

  /** Starts no more jobs, returns running deployments to the queue, and waits for running teardowns. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error("the service is stopping"));
    await this.#tasks?.[Symbol.asyncDispose]();
    await this.#options.servers.monitor[Symbol.asyncDispose]();
    await this.#options.boss.stop({ graceful: true, timeout: STOP_MS, close: true });
  }

  async #work<Q extends QueueName>(
    queue: Q,
    localConcurrency: number,
    run: (job: Jobs[Q]) => Promise<void>,
  ): Promise<void> {
    await this.#options.boss.work<Jobs[Q]>(queue, { ...POLLING, localConcurrency }, async ([job]) => {
      if (job !== undefined) await this.#run(queue, job.data, run);
    });
  }

  async #run<Q extends QueueName>(queue: Q, job: Jobs[Q], run: (job: Jobs[Q]) => Promise<void>): Promise<void> {
    try {
      await run(job);
    } catch (error) {
      // The app was deleted, or another worker continues: nothing is left to do for this job.
      if (error instanceof LeaseLost) return;
      if (!this.#stop.signal.aborted || error !== this.#stop.signal.reason) this.#logFailure(queue, job, error);
      throw storableError(error);
    }
  }

  #logFailure(queue: QueueName, job: object, error: unknown): void {
    const message = "a job failed and will be repeated";
    if (error instanceof RetryDeployment || error instanceof DeploymentIsLeased)
      this.#options.log.info({ queue, job, reason: error.message }, message);
    else this.#options.log.error({ queue, job, err: error }, message);
  }

  async #sweep(): Promise<void> {
    const { deps, log } = this.#options;
    try {
      const report = await sweep(deps);
      if (report.orphans.length + report.teardowns + report.deployments + report.authEntries > 0)
        log.warn(report, "the sweep removed orphaned resources or resumed stalled work");
    } finally {
      // Also after a failed sweep: otherwise the database would grow while a provider is down.
      await this.#purge();
      await this.#removeUnusedWorkspaces();
      await this.#removeArchives();
      await enqueueDueSources(deps);
    }
  }

  async #removeUnusedWorkspaces(): Promise<void> {
    const { db, agentWorkspaces, log } = this.#options;
    const agents = await removeUnusedWorkspaces({ db, agentWorkspaces });
    if (agents.length > 0) log.warn({ agents }, "the sweep removed workspaces of agents that do not exist");
  }

  async #removeArchives(): Promise<void> {
    const { deps, log } = this.#options;
    const removed = await removeUnusedArchives(deps);
    const lost = await removeLostArchives(deps);
    const imports = await removeLostImports(deps);
    if (imports > 0) log.info({ imports }, "the sweep removed exports that no app needs");
    if (removed + lost > 0) log.info({ removed, lost }, "the sweep removed archives that nothing needs");
  }

  async #purge(): Promise<void> {
    const { db, retention, log } = this.#options;
    const purged = await purgeExpiredRecords(db, retention);
    if (purged > 0) log.info({ purged }, "the sweep deleted expired records");
    const entries = await removeDeletedEntries(db, { maxBatches: ENTRY_BATCHES });
    if (entries > 0) log.info({ entries }, "the sweep removed the transcripts of deleted sessions");
  }
}

/** The queue stores the error of a job, and PostgreSQL stores no text with a null character, which output of programs can contain. */
function storableError(error: unknown): Error {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return Object.assign(new Error(sanitizeLog(message, [])), { name });
}
