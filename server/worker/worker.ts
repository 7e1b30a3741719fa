import type { PgBoss } from "pg-boss";
import { removeLostArchives, removeUnusedArchives } from "../../domain/archives/remove-unused-archives.ts";
import { type AlwaysOnDeps, syncAlwaysOnApps } from "../../domain/always-on/sync-always-on-apps.ts";
import { removeUnusedWorkspaces } from "../../domain/agent-workspaces/remove-unused-workspaces.ts";
import { DeploymentIsLeased } from "../../domain/deployments/claim-deployment.ts";
import { LeaseLost } from "../../domain/deployments/lease.ts";
import { type DeploymentDeps, runDeployment, RetryDeployment } from "../../domain/deployments/run-deployment.ts";
import { sweep } from "../../domain/deployments/sweep.ts";
import { tearDownApp } from "../../domain/deployments/tear-down-app.ts";
import { removeDeletedEntries } from "../../domain/retention/deleted-sessions.ts";
import { purgeExpiredRecords, type Retention } from "../../domain/retention/purge-expired-records.ts";
import type { ServerMonitor } from "../../domain/agents/server-monitor.ts";
import type { Db } from "../../domain/database-types.ts";
import { indexMissingProcedures } from "../../domain/procedures/index-missing-procedures.ts";
import { sanitizeLog } from "../../domain/shared/sanitize-log.ts";
import { updateScopes } from "../../domain/search/update-scopes.ts";
import { enqueueDueSources } from "../../domain/knowledge-sources/manage-sources.ts";
import type { ReadSourceDeps } from "../../domain/knowledge-sources/read-source.ts";
import { runSourceJob } from "../../domain/knowledge-sources/run-source-job.ts";
import { deployPush, type DeployPushDeps } from "../../domain/push-to-deploy/deploy-push.ts";
import { enqueueDuePolls, pollBranch, type PollBranchDeps } from "../../domain/push-to-deploy/poll-branch.ts";
import { reportCommitStatus, type ReportStatusDeps } from "../../domain/push-to-deploy/report-commit-status.ts";
import type { AgentWorkspaces } from "../../domain/ports/agent-workspaces.ts";
import type { ChangeFeed } from "../../domain/ports/change-feed.ts";
import type { Embeddings } from "../../domain/ports/embeddings.ts";
import type { Jobs, QueueName } from "../../domain/ports/job-queue.ts";
import type { TranscriptSearch } from "../../domain/ports/transcript-search.ts";
import { type EnforceDeps, enforceStorage } from "../../domain/storage/enforce-storage.ts";
import { applyVariables } from "../../domain/variables/apply-variables.ts";
import type { Logger } from "../telemetry/logger.ts";
import { startEmbeddingTask } from "./embedding-task.ts";
import { PeriodicTask } from "./periodic-task.ts";
import { EMBEDDED_TEXT_READERS, TEXT_READERS } from "./text-readers.ts";

export interface WorkerOptions {
  boss: PgBoss;
  deps: DeploymentDeps;
  storage: EnforceDeps;
  alwaysOn: AlwaysOnDeps;
  /** Keeps the connections to gateways of agents. */
  servers: { monitor: ServerMonitor; changes: ChangeFeed };
  /** Reads the sources of Company Knowledge. */
  sources: ReadSourceDeps;
  /** Deploys what is pushed, and tells the git host about it. */
  pushes: DeployPushDeps & PollBranchDeps & ReportStatusDeps;
  db: Db;
  /** `null` when no embeddings endpoint is configured. */
  embeddings: Embeddings | null;
  agentWorkspaces: AgentWorkspaces;
  transcriptSearch: TranscriptSearch;
  retention: Retention;
  log: Logger;
  /** How many deployments run at once. */
  buildConcurrency: number;
}

const ROLLBACK_CONCURRENCY = 4;
const TEARDOWN_CONCURRENCY = 4;
const VARIABLES_CONCURRENCY = 4;
/** Each source uses a share of the document reader, and a checkout. */
const SOURCE_CONCURRENCY = 2;
const PUSH_CONCURRENCY = 4;
/** Each starts git in a sandbox. */
const POLL_CONCURRENCY = 2;
/** How late a look for new commits may be. */
const POLL_PAUSE_MS = 5000;
/** An app can store this much longer than its bound allows, until it is stopped. */
const STORAGE_PAUSE_MS = 30_000;
const STORAGE_PAUSE_FACTOR = 10;
/** How long a change of the apps that are always on, or of the plan of their organization, may take to have an effect. */
const ALWAYS_ON_PAUSE_MS = 10_000;
const SWEEP_INTERVAL_MS = 10 * 60_000;
const SERVER_CHECK_PAUSE_MS = 5000;
const SEARCH_PAUSE_MS = 60_000;
const MERGE_PAUSE_MS = 500;
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
  #sweepTimer: NodeJS.Timeout | null = null;
  #storageTask: PeriodicTask | null = null;
  #alwaysOnTask: PeriodicTask | null = null;
  #serverTask: AsyncDisposableStack | null = null;
  #embeddingTask: PeriodicTask | null = null;
  #searchTask: AsyncDisposableStack | null = null;
  #pollTask: PeriodicTask | null = null;

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
    await this.#enqueueSweep();
    this.#sweepTimer = setInterval(() => void this.#enqueueSweep(), SWEEP_INTERVAL_MS);
    this.#storageTask = this.#startStorageTask();
    this.#alwaysOnTask = this.#startAlwaysOnTask();
    this.#serverTask = this.#startServerTask();
    const { db, embeddings, log } = this.#options;
    if (embeddings !== null)
      this.#embeddingTask = startEmbeddingTask({ db, embeddings, readers: EMBEDDED_TEXT_READERS, log });
    this.#searchTask = this.#startSearchTask();
    this.#pollTask = new PeriodicTask({
      run: () => enqueueDuePolls(pushes),
      pauseMs: POLL_PAUSE_MS,
      report: (err) => log.warn({ err }, "new commits could not be looked for; this is tried again later"),
    });
  }

  /** Starts no more jobs, returns running deployments to the queue, and waits for running teardowns. */
  async stop(): Promise<void> {
    if (this.#sweepTimer !== null) clearInterval(this.#sweepTimer);
    this.#stop.abort(new Error("the service is stopping"));
    await this.#storageTask?.[Symbol.asyncDispose]();
    await this.#alwaysOnTask?.[Symbol.asyncDispose]();
    await this.#serverTask?.[Symbol.asyncDispose]();
    await this.#embeddingTask?.[Symbol.asyncDispose]();
    await this.#searchTask?.[Symbol.asyncDispose]();
    await this.#pollTask?.[Symbol.asyncDispose]();
    await this.#options.boss.stop({ graceful: true, timeout: STOP_MS, close: true });
  }

  /** Checks the connections to gateways periodically, and at once when a server is added, changed or deleted. */
  #startServerTask(): AsyncDisposableStack {
    const { servers, log } = this.#options;
    const { monitor, changes } = servers;
    const report = (err: unknown): void =>
      log.warn({ err }, "the gateways of agents could not be checked; they are checked again later");
    const task = new AsyncDisposableStack();
    task.use(monitor);
    task.use(new PeriodicTask({ run: () => monitor.check(), pauseMs: SERVER_CHECK_PAUSE_MS, report }));
    task.defer(changes.listen(() => void monitor.check().catch(report)));
    return task;
  }

  #startStorageTask(): PeriodicTask {
    const { storage, log } = this.#options;
    return new PeriodicTask({
      run: (signal) => enforceStorage(storage, signal),
      pauseMs: STORAGE_PAUSE_MS,
      pauseFactor: STORAGE_PAUSE_FACTOR,
      report: (err) => log.warn({ err }, "the storage of apps could not be checked; it is checked again later"),
    });
  }

  #startAlwaysOnTask(): PeriodicTask {
    const { alwaysOn, log } = this.#options;
    return new PeriodicTask({
      run: () => syncAlwaysOnApps(alwaysOn),
      pauseMs: ALWAYS_ON_PAUSE_MS,
      report: (err) =>
        log.warn({ err }, "the apps that are always on could not be determined; this is tried again later"),
    });
  }

  /** Merges new words of transcripts, and after an update of the service, indexes texts again that an older analyzer has indexed. */
  #startSearchTask(): AsyncDisposableStack {
    const { db, transcriptSearch, log } = this.#options;
    const report = (err: unknown): void =>
      log.warn({ err }, "a part of the search index could not be brought up to date; it is tried again later");
    const task = new AsyncDisposableStack();
    const options = { pauseMs: SEARCH_PAUSE_MS, report };
    task.use(new PeriodicTask({ ...options, run: (signal) => updateScopes(db, TEXT_READERS, { signal, report }) }));
    task.use(
      new PeriodicTask({
        ...options,
        run: (signal) => indexMissingProcedures(db, { signal, report }),
        pauseMs: SWEEP_INTERVAL_MS,
      }),
    );
    task.use(new PeriodicTask({ ...options, run: () => transcriptSearch.mergeNewWords(), pauseMs: MERGE_PAUSE_MS }));
    return task;
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
    if (removed + lost > 0) log.info({ removed, lost }, "the sweep removed archives that nothing needs");
  }

  async #purge(): Promise<void> {
    const { db, retention, log } = this.#options;
    const purged = await purgeExpiredRecords(db, retention);
    if (purged > 0) log.info({ purged }, "the sweep deleted expired records");
    const entries = await removeDeletedEntries(db, { maxBatches: ENTRY_BATCHES });
    if (entries > 0) log.info({ entries }, "the sweep removed the transcripts of deleted sessions");
  }

  async #enqueueSweep(): Promise<void> {
    const { boss, log } = this.#options;
    // The key keeps several processes from queuing more than one sweep.
    await boss
      .send("sweep", {}, { singletonKey: "sweep", singletonSeconds: 60 })
      .catch((err: unknown) => log.warn({ err }, "the sweep could not be queued"));
  }
}

/** The queue stores the error of a job, and PostgreSQL stores no text with a null character, which output of programs can contain. */
function storableError(error: unknown): Error {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return Object.assign(new Error(sanitizeLog(message, [])), { name });
}
