import { syncAlwaysOnApps } from "../../domain/always-on/sync-always-on-apps.ts";
import { indexMissingProcedures } from "../../domain/procedures/index-missing-procedures.ts";
import { enqueueDuePolls } from "../../domain/push-to-deploy/poll-branch.ts";
import { updateScopes } from "../../domain/search/update-scopes.ts";
import { enforceStorage } from "../../domain/storage/enforce-storage.ts";
import { startEmbeddingTask } from "./embedding-task.ts";
import { PeriodicTask } from "./periodic-task.ts";
import { EMBEDDED_TEXT_READERS, TEXT_READERS } from "./text-readers.ts";
import type { WorkerOptions } from "./worker.ts";

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

type TaskOptions = Omit<WorkerOptions, "leadership" | "buildConcurrency" | "retention">;

/** Starts what is due periodically. Of several workers, only one does it. Disposing of the result waits for the current runs. */
export function startPeriodicTasks(options: TaskOptions): AsyncDisposable {
  const { db, embeddings, log } = options;
  const tasks = new AsyncDisposableStack();
  startSweeps(options, tasks);
  startAppTasks(options, tasks);
  startServerTask(options, tasks);
  if (embeddings !== null) tasks.use(startEmbeddingTask({ db, embeddings, readers: EMBEDDED_TEXT_READERS, log }));
  startSearchTasks(options, tasks);
  return tasks;
}

function startSweeps({ boss, log }: TaskOptions, tasks: AsyncDisposableStack): void {
  // The key keeps several processes from queuing more than one sweep.
  const enqueue = () =>
    boss
      .send("sweep", {}, { singletonKey: "sweep", singletonSeconds: 60 })
      .catch((err: unknown) => log.warn({ err }, "the sweep could not be queued"));
  void enqueue();
  tasks.adopt(
    setInterval(() => void enqueue(), SWEEP_INTERVAL_MS),
    (timer) => clearInterval(timer),
  );
}

function startAppTasks({ storage, alwaysOn, pushes, log }: TaskOptions, tasks: AsyncDisposableStack): void {
  tasks.use(
    new PeriodicTask({
      run: (signal) => enforceStorage(storage, signal),
      pauseMs: STORAGE_PAUSE_MS,
      pauseFactor: STORAGE_PAUSE_FACTOR,
      report: (err) => log.warn({ err }, "the storage of apps could not be checked; it is checked again later"),
    }),
  );
  tasks.use(
    new PeriodicTask({
      run: () => syncAlwaysOnApps(alwaysOn),
      pauseMs: ALWAYS_ON_PAUSE_MS,
      report: (err) =>
        log.warn({ err }, "the apps that are always on could not be determined; this is tried again later"),
    }),
  );
  tasks.use(
    new PeriodicTask({
      run: () => enqueueDuePolls(pushes),
      pauseMs: POLL_PAUSE_MS,
      report: (err) => log.warn({ err }, "new commits could not be looked for; this is tried again later"),
    }),
  );
}

/** Checks the connections to gateways periodically, and at once when a server is added, changed or deleted. */
function startServerTask({ servers, log }: TaskOptions, tasks: AsyncDisposableStack): void {
  const { monitor, changes } = servers;
  const report = (err: unknown): void =>
    log.warn({ err }, "the gateways of agents could not be checked; they are checked again later");
  tasks.use(new PeriodicTask({ run: () => monitor.check(), pauseMs: SERVER_CHECK_PAUSE_MS, report }));
  tasks.defer(changes.listen(() => void monitor.check().catch(report)));
}

/** Merges new words of transcripts, and after an update of the service, indexes texts again that an older analyzer has indexed. */
function startSearchTasks({ db, transcriptSearch, log }: TaskOptions, tasks: AsyncDisposableStack): void {
  const report = (err: unknown): void =>
    log.warn({ err }, "a part of the search index could not be brought up to date; it is tried again later");
  const options = { pauseMs: SEARCH_PAUSE_MS, report };
  tasks.use(new PeriodicTask({ ...options, run: (signal) => updateScopes(db, TEXT_READERS, { signal, report }) }));
  tasks.use(
    new PeriodicTask({
      ...options,
      run: (signal) => indexMissingProcedures(db, { signal, report }),
      pauseMs: SWEEP_INTERVAL_MS,
    }),
  );
  tasks.use(new PeriodicTask({ ...options, run: () => transcriptSearch.mergeNewWords(), pauseMs: MERGE_PAUSE_MS }));
}
