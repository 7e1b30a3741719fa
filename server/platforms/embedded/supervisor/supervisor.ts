import type { AppHost } from "../scripts/script-publisher.ts";
import { KeyedLock } from "../../../../domain/shared/keyed-lock.ts";
import type { ScriptStore, ScriptVersion } from "../scripts/script-store.ts";
import { workerOptions } from "../workerd/worker-options.ts";
import type { WorkerdLauncher } from "../workerd/workerd-launcher.ts";
import type { WorkerdProcess } from "../workerd/workerd-process.ts";
import type { DatabaseHolder } from "../databases/sql-databases.ts";
import { RestartBackoff } from "./restart-backoff.ts";
import type { EdgeLog } from "../edge-log.ts";
import { RunningApp, type Lease } from "./running-app.ts";
import { Watchdog, type WatchdogLimits } from "./watchdog.ts";

export interface SupervisorOptions extends WatchdogLimits {
  /** How many apps may have a process at the same time. */
  maxActive: number;
  /** How long a version that is being replaced may take to finish what it is answering. */
  drainMs: number;
}

interface Parts {
  store: ScriptStore;
  launcher: WorkerdLauncher;
  /** The folder of an app's SQL database. */
  databaseDirectory: (databaseId: string) => string;
  options: SupervisorOptions;
  log: EdgeLog;
}

/** The app cannot be reached now; asking again after `retryAfterSeconds` (whole, at least 1) can succeed. */
export class AppUnavailable extends Error {
  override readonly name = "AppUnavailable";
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number, options?: ErrorOptions) {
    super(message, options);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * Gives apps a process when they are asked for and takes it away when they are idle, hang, grow or crash.
 *
 * workerd takes no lock on its storage, so two processes must never have the same folders open. Everything that starts
 * or stops a process, or touches a database from outside, therefore does it holding the lock of the app's database id.
 */
export class Supervisor implements AppHost, DatabaseHolder {
  readonly #parts: Parts;
  readonly #running = new Map<string, RunningApp>();
  readonly #starts = new Map<string, Promise<boolean>>();
  /** Processes that are about to be; they count against `maxActive`. */
  #starting = 0;
  readonly #turns = new KeyedLock();
  readonly #breaker = new RestartBackoff();
  readonly #closing = new AbortController();
  readonly #watchdog: Watchdog;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#watchdog = new Watchdog(parts.options, {
      running: () => [...this.#running.values()],
      stopIdle: (app) => this.#stopIdle(app),
      kill: (app, reason) => this.#fail(app, reason),
      report: (err) => parts.log.warn({ err }, "watchdog could not look at an app"),
    });
  }

  /** The slugs that have a process now. */
  get active(): string[] {
    return [...this.#running.keys()];
  }

  /** The app that lives at `slug`; `null` when none does. Starts nothing. */
  async appIdAt(slug: string): Promise<string | null> {
    return (this.#running.get(slug)?.version ?? (await this.#parts.store.live(slug)))?.appId ?? null;
  }

  /**
   * The way to the app at `slug`, started if need be; `null` when no app lives there.
   *
   * @throws {AppUnavailable} when it does not start, failed too often lately, or no process is free for it
   */
  async acquire(slug: string): Promise<Lease | null> {
    for (;;) {
      const app = this.#running.get(slug);
      if (app) return app.lease();
      // Many requests may ask at once; one start serves all, and what they find afterwards counts.
      let start = this.#starts.get(slug);
      if (!start) {
        start = this.#startLive(slug).finally(() => this.#starts.delete(slug));
        this.#starts.set(slug, start);
      }
      if (!(await start)) return null;
    }
  }

  /**
   * While `version` starts and is looked at, the old process is stopped, because both would open the same storage; new
   * requests wait. To keep that short, and to spare visitors a version that cannot even start, it is first started
   * beside the old one with storage of its own that is thrown away.
   */
  async replace(
    version: ScriptVersion,
    admit: (app: WorkerdProcess) => Promise<void>,
    caller: AbortSignal,
  ): Promise<void> {
    const { slug, databaseId } = version;
    const signal = AbortSignal.any([caller, this.#closing.signal]);
    if (this.#running.has(slug)) await this.#rehearse(version, signal);
    // A publication goes on when nothing can be stopped for it: one process too many for a while is the lesser harm.
    await this.#makeRoom(this.#running.has(slug) ? 0 : 1);
    const live = await this.#parts.store.live(slug);
    await this.#turns.run([...new Set([databaseId, live?.databaseId ?? databaseId])], async () => {
      signal.throwIfAborted();
      await this.#detach(slug);
      const process = await this.#launch(version, signal);
      try {
        await admit(process);
        this.#breaker.forget(slug);
        this.#adopt(version, process);
      } catch (error) {
        await process[Symbol.asyncDispose]();
        throw error;
      }
    });
  }

  async retire(slug: string, remove: () => Promise<void>): Promise<void> {
    const live = await this.#parts.store.live(slug);
    await this.#turns.run(live ? [live.databaseId] : [], async () => {
      await this.#detach(slug, 0);
      await remove();
      this.#breaker.forget(slug);
    });
  }

  async withDatabaseAtRest<T>(databaseId: string, work: () => Promise<T>): Promise<T> {
    return this.#turns.run([databaseId], async () => {
      const users = [...this.#running.values()].filter(({ version }) => version.databaseId === databaseId);
      await Promise.all(users.map(({ version }) => this.#detach(version.slug)));
      return work();
    });
  }

  /** Ends every process. What is in flight is cut; the front door waits for it before. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("The edge is closing"));
    this.#watchdog.stop();
    await this.#turns.idle();
    await Promise.all([...this.#running.keys()].map((slug) => this.#detach(slug, 0)));
  }

  /** Whether an app lives at `slug`; if so, it has been given a process, unless it changed meanwhile. */
  async #startLive(slug: string): Promise<boolean> {
    const version = await this.#parts.store.live(slug);
    if (!version) return false;
    this.#refuseIfFailing(slug);
    this.#starting++;
    try {
      if (!(await this.#makeRoom(0)))
        throw new AppUnavailable("All processes for apps are in use; try again shortly.", 5);
      await this.#turns.run([version.databaseId], async () => {
        const current = await this.#parts.store.live(slug);
        if (current?.name !== version.name || this.#running.has(slug)) return;
        this.#adopt(version, await this.#launchOrCount(version));
      });
    } finally {
      this.#starting--;
    }
    return true;
  }

  #refuseIfFailing(slug: string): void {
    if (this.#closing.signal.aborted) throw new AppUnavailable("The edge is restarting.", 5);
    const waitMs = this.#breaker.waitMs(slug);
    if (waitMs > 0)
      throw new AppUnavailable("The app failed repeatedly and is started again later.", Math.ceil(waitMs / 1000));
  }

  async #launchOrCount(version: ScriptVersion): Promise<WorkerdProcess> {
    try {
      return await this.#launch(version, this.#closing.signal);
    } catch (cause) {
      this.#breaker.record(version.slug);
      this.#parts.log.warn({ slug: version.slug, appId: version.appId, err: cause }, "app failed to start");
      throw new AppUnavailable(
        "The app failed to start.",
        Math.max(1, Math.ceil(this.#breaker.waitMs(version.slug) / 1000)),
        { cause },
      );
    }
  }

  async #launch(version: ScriptVersion, signal: AbortSignal): Promise<WorkerdProcess> {
    const { storageDirectory, databaseId, assets } = version;
    const databaseDirectory = this.#parts.databaseDirectory(databaseId);
    const worker = await workerOptions(version);
    return this.#parts.launcher.start(
      { worker, storageDirectory, databaseDirectory, assetsDirectory: assets?.directory ?? null },
      signal,
    );
  }

  async #rehearse(version: ScriptVersion, signal: AbortSignal): Promise<void> {
    const worker = await workerOptions(version);
    const assetsDirectory = version.assets?.directory ?? null;
    await using _ = await this.#parts.launcher.start(
      { worker, storageDirectory: null, databaseDirectory: null, assetsDirectory },
      signal,
    );
  }

  #adopt(version: ScriptVersion, process: WorkerdProcess): void {
    const app = new RunningApp(version, process);
    this.#running.set(version.slug, app);
    void process.exited.then(() => this.#fail(app, "crashed"));
    this.#parts.log.info({ slug: version.slug, appId: version.appId, generation: version.generation }, "app started");
  }

  /** Takes the slug's process away: no new request reaches it, those in flight get `drainMs`. Needs the lock. */
  async #detach(slug: string, drainMs = this.#parts.options.drainMs): Promise<void> {
    const app = this.#running.get(slug);
    if (!app) return;
    this.#running.delete(slug);
    await app.drained(drainMs);
    await app.process[Symbol.asyncDispose]();
  }

  /** The process is of no use any more. The lock is asked for at once, so the next start of the app comes after. */
  #fail(app: RunningApp, reason: string): void {
    const { slug, appId, databaseId } = app.version;
    if (this.#running.get(slug) !== app) return;
    this.#running.delete(slug);
    this.#breaker.record(slug);
    this.#parts.log.warn({ slug, appId, reason, lastError: app.process.output.lastError() }, "app process ended");
    this.#turns
      .run([databaseId], () => app.process[Symbol.asyncDispose]())
      .catch((err: unknown) => {
        this.#parts.log.warn({ slug, appId, err }, "app process could not be cleared away");
      });
  }

  async #stopIdle(app: RunningApp): Promise<void> {
    const { slug, appId, databaseId } = app.version;
    await this.#turns.run([databaseId], async () => {
      if (this.#running.get(slug) !== app || !app.idle) return;
      await this.#detach(slug);
      this.#parts.log.info({ slug, appId }, "idle app stopped");
    });
  }

  /** Whether all that run, start and come may; stops those that have been idle for longest if it must. */
  async #makeRoom(coming: number): Promise<boolean> {
    while (this.#running.size + this.#starting + coming > this.#parts.options.maxActive) {
      const idle = [...this.#running.values()]
        .filter((app) => app.idle)
        .toSorted((a, b) => a.lastUsedAt - b.lastUsedAt);
      if (!idle[0]) return false;
      await this.#stopIdle(idle[0]);
    }
    return true;
  }
}
