import { isDeepStrictEqual } from "node:util";
import type { StorageRestriction } from "../../../../domain/ports/app-storage.ts";
import { KeyedLock } from "../../../../domain/shared/keyed-lock.ts";
import type { DatabaseAccess } from "../databases/sql-databases.ts";
import type { AppRunner, Verify } from "../scripts/script-publisher.ts";
import type { ScriptVersion } from "../script-version.ts";
import type { AppProcess } from "../app-process.ts";
import type { AppAddress } from "../../../ports/app-address.ts";
import { FailureReports } from "./failure-reports.ts";
import { launchAfter, launchApp, launchBeside } from "./launch-app.ts";
import { prepareApp, type PreparedApp } from "./prepared-app.ts";
import { RestartBackoff } from "./restart-backoff.ts";
import { makeRoom } from "./process-shares.ts";
import { type AcquiredApp, appOnEdge, isOutdated, RunningApp } from "./running-app.ts";
import { AppRestricted, AppUnavailable, checkRestriction } from "./unavailable-app.ts";
import type { SupervisorOptions } from "./supervisor-options.ts";
import { Watchdog } from "./watchdog.ts";

/**
 * Starts a process for an app on its first request. Stops it when it is idle, hangs, uses too much memory or crashes.
 *
 * workerd does not lock its storage, so two processes must never have the same folders open. Therefore every start and
 * stop of a process, and every access to a database from outside, holds the lock of the app's database id.
 */
export class Supervisor implements AppRunner, DatabaseAccess {
  readonly #options: SupervisorOptions;
  readonly #running = new Map<string, RunningApp>();
  readonly #starts = new Map<string, Promise<boolean>>();
  readonly #starting = new Set<ScriptVersion>();
  readonly #locks = new KeyedLock();
  readonly #backoff = new RestartBackoff();
  readonly #failures: FailureReports;
  readonly #closing = new AbortController();
  readonly #watchdog: Watchdog;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#failures = new FailureReports({ ...options, backoff: this.#backoff });
    this.#watchdog = new Watchdog(options.limits, {
      running: () => [...this.#running.values()],
      isKept: (app) => options.isKept(app.version.appId),
      stopIdle: (app) => this.#stopIdle(app),
      kill: (app, reason) => this.#handleFailure(app, reason),
      report: (err) => options.log.warn({ err }, "watchdog could not check an app"),
    });
  }

  /** The slugs of the apps that have a process now. */
  get active(): string[] {
    return [...this.#running.keys()];
  }

  /** The id of the app at `slug`, or `null` if there is none. Starts no process. */
  async appIdAt(slug: string): Promise<string | null> {
    return (this.#running.get(slug)?.version ?? (await this.#options.store.live(slug)))?.appId ?? null;
  }

  /**
   * Returns the running app at `slug`, started if necessary; `null` if there is no app.
   *
   * @param hasToken - whether the request has the app's token
   * @param isForwarded - whether another edge has forwarded the request, so that this edge must not forward it again
   * @throws {AppRestricted} when the restriction of the app refuses the request
   * @throws {AppUnavailable} when the app does not start, failed repeatedly, or no process is free for it
   */
  async acquire(slug: string, hasToken: boolean, isForwarded = false): Promise<AcquiredApp | null> {
    for (;;) {
      const app = this.#running.get(slug);
      if (app) {
        checkRestriction(app.restriction, hasToken);
        return app.acquire();
      }
      // Before the start, which requests with and without token share.
      const live = await this.#options.store.live(slug);
      if (live) checkRestriction(await this.#options.store.restriction(live), hasToken);
      const edge = live && (await this.#options.placement.locate(live, { isNew: isForwarded }));
      if (edge) return appOnEdge(live.appId, edge, isForwarded);
      // Simultaneous requests share one start. Afterwards each checks again, because the app may have changed.
      let start = this.#starts.get(slug);
      if (!start) {
        start = this.#startLive(slug).finally(() => this.#starts.delete(slug));
        this.#starts.set(slug, start);
      }
      if (!(await start)) return null;
    }
  }

  /**
   * The version is first started beside the old process, which serves meanwhile, also if the version cannot start. If it uses
   * storage, it is started again when the old process has stopped, because both would open the same storage. New requests
   * wait from the stop until the version is verified.
   */
  async replace(version: ScriptVersion, verify: Verify, caller: AbortSignal): Promise<void> {
    const { slug, databaseId } = version;
    const signal = AbortSignal.any([caller, this.#closing.signal]);
    const prepared = await prepareApp(this.#options, version, { isNew: true });
    prepared.checkNames();
    await using _ = await this.#options.placement.hold(version, { takesOver: true, signal });
    await using unused = new AsyncDisposableStack();
    const replaced = this.#running.get(slug);
    const beside = unused.use(await launchBeside(this.#options, prepared, { replaced, signal }));
    // A publication continues even if no process can be stopped: one process over the limit does little harm.
    if (!this.#running.has(slug)) await this.#makeRoom(version);
    const live = await this.#options.store.live(slug);
    await this.#locks.run([...new Set([databaseId, live?.databaseId ?? databaseId])], async () => {
      signal.throwIfAborted();
      await this.#stop(slug);
      const process = await launchAfter(this.#options, prepared, { beside, signal });
      try {
        await verify(process);
        this.#backoff.reset(slug);
        await this.#register(prepared, process);
      } catch (error) {
        await process[Symbol.asyncDispose]();
        throw error;
      }
    });
    unused.move();
  }

  async restart(slug: string, caller: AbortSignal): Promise<void> {
    const live = await this.#options.store.live(slug);
    if (live === null) return;
    const signal = AbortSignal.any([caller, this.#closing.signal]);
    // With the lock, no process is starting that has already read the variables.
    await this.#locks.run([live.databaseId], async () => {
      signal.throwIfAborted();
      const app = this.#running.get(slug);
      // It may have failed because of a variable that is correct now.
      if (!app) return this.#backoff.reset(slug);
      const prepared = await prepareApp(this.#options, app.version);
      if (prepared.variablesVersion <= app.variablesVersion) return;
      prepared.checkNames();
      await using _ = await this.#options.placement.hold(app.version, { takesOver: false, signal });
      // As in `replace`, so that the app that runs serves as long as possible, and continues if the new one cannot start.
      await using unused = new AsyncDisposableStack();
      const beside = unused.use(await launchBeside(this.#options, prepared, { replaced: app, signal }));
      // If it failed meanwhile, its process may still use the storage, and its removal waits for the lock.
      if (this.#running.get(slug) !== app) return;
      await this.#stop(slug);
      await this.#register(prepared, await launchAfter(this.#options, prepared, { beside, signal }));
      unused.move();
    });
  }

  /** See `AppStorage.restrict`. */
  async restrict(slug: string, appId: string, restriction: StorageRestriction | null): Promise<void> {
    const { store } = this.#options;
    const live = await store.live(slug);
    if (live?.appId !== appId || isDeepStrictEqual(await store.restriction(live), restriction)) return;
    await this.#locks.run([live.databaseId], async () => {
      if ((await store.live(slug))?.appId !== appId) return;
      await store.setRestriction(live, restriction);
      const app = this.#running.get(slug);
      if (restriction !== null) await this.#stop(slug);
      else if (app) app.restriction = null;
    });
  }

  /** Stops the process at `slug` if another edge has made another version live, or has restricted the app, since it started. */
  async stopOutdated(slug: string): Promise<void> {
    const app = this.#running.get(slug);
    if (!app || !(await isOutdated(app, this.#options.store))) return;
    await this.#locks.run([app.version.databaseId], async () => {
      if (this.#running.get(slug) === app) await this.#stop(slug);
    });
  }

  async withLiveApp<T>(slug: string, use: (address: AppAddress) => Promise<T>): Promise<T | null> {
    const app = await this.acquire(slug, true).catch((error: unknown) => {
      if (error instanceof AppUnavailable || error instanceof AppRestricted) return null;
      throw error;
    });
    if (app === null) return null;
    try {
      return await use(app.address);
    } finally {
      app.release();
    }
  }

  async withAppStopped(slug: string, work: () => Promise<void>): Promise<void> {
    const live = await this.#options.store.live(slug);
    await this.#locks.run(live ? [live.databaseId] : [], async () => {
      const app = this.#running.get(slug);
      this.#running.delete(slug);
      await app?.process[Symbol.asyncDispose]();
      await work();
      this.#backoff.reset(slug);
    });
  }

  async withDatabaseClosed<T>(databaseId: string, work: () => Promise<T>): Promise<T> {
    return this.#locks.run([databaseId], async () => {
      const users = [...this.#running.values()].filter(({ version }) => version.databaseId === databaseId);
      await Promise.all(users.map(({ version }) => this.#stop(version.slug)));
      return work();
    });
  }

  /** Stops every process. The edge proxy waits for requests in flight before; the rest are cut off. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("The edge is closing"));
    this.#watchdog.stop();
    await this.#locks.idle();
    await Promise.all([...this.#running.keys()].map((slug) => this.#stop(slug, 0)));
  }

  /** Starts the app at `slug`, unless it changed meanwhile. Returns whether there is an app. */
  async #startLive(slug: string): Promise<boolean> {
    const version = await this.#options.store.live(slug);
    if (!version) return false;
    this.#checkMayStart(slug);
    this.#starting.add(version);
    try {
      const shortage = await this.#makeRoom(version);
      if (shortage !== null) throw new AppUnavailable(shortage, 5);
      await this.#locks.run([version.databaseId], async () => {
        const current = await this.#options.store.live(slug);
        if (current?.name !== version.name || this.#running.has(slug)) return;
        await this.#startVersion(version);
      });
    } finally {
      this.#starting.delete(version);
    }
    return true;
  }

  #checkMayStart(slug: string): void {
    if (this.#closing.signal.aborted) throw new AppUnavailable("The edge is restarting. Try again shortly.", 5);
    const delayMs = this.#backoff.delayMs(slug);
    if (delayMs > 0)
      throw new AppUnavailable("The app failed repeatedly. It starts again later.", Math.ceil(delayMs / 1000));
  }

  async #startVersion(version: ScriptVersion): Promise<void> {
    try {
      const prepared = await prepareApp(this.#options, version);
      await this.#register(prepared, await launchApp(this.#options, prepared, this.#closing.signal));
    } catch (cause) {
      const failure = this.#failures.addStart(version, cause);
      // Without one, the next attempt finds the edge that runs the app.
      if (failure !== null) throw failure;
    }
  }

  async #register({ version, variablesVersion }: PreparedApp, process: AppProcess): Promise<void> {
    const { slug, appId, generation } = version;
    const app = new RunningApp(version, variablesVersion, process);
    await process.accept?.();
    app.restriction = await this.#options.store.restriction(version);
    this.#options.onStart?.(slug);
    this.#running.set(slug, app);
    void process.exited.then(() => this.#handleFailure(app, process.hasExceededMemory() ? "memory" : "crashed"));
    this.#options.log.info({ slug, appId, generation }, "app started");
  }

  /** Stops the process at `slug`: new requests do not reach it, those in flight get `drainMs`. Requires the lock. */
  async #stop(slug: string, drainMs = this.#options.limits.drainMs): Promise<void> {
    const app = this.#running.get(slug);
    if (!app) return;
    this.#running.delete(slug);
    await app.drain(drainMs);
    await app.process.shutDown();
  }

  /** Removes a failed process. It queues for the lock at once, so that the next start of the app comes after it. */
  #handleFailure(app: RunningApp, reason: string): void {
    const { slug, appId, databaseId } = app.version;
    if (this.#running.get(slug) !== app) return;
    this.#running.delete(slug);
    this.#failures.addEnd(app, reason);
    this.#locks
      .run([databaseId], () => app.process[Symbol.asyncDispose]())
      .catch((err: unknown) => {
        this.#options.log.warn({ slug, appId, err }, "app process could not be removed");
      });
  }

  async #stopIdle(app: RunningApp): Promise<void> {
    const { slug, appId, databaseId } = app.version;
    await this.#locks.run([databaseId], async () => {
      if (this.#running.get(slug) !== app || !app.isIdle) return;
      await this.#stop(slug);
      this.#options.log.info({ slug, appId }, "idle app stopped");
    });
  }

  /** As `makeRoom`. */
  #makeRoom(version: ScriptVersion): Promise<string | null> {
    const { limits, isKept } = this.#options;
    const read = () => {
      const [running, starting] = [[...this.#running.values()], new Set([...this.#starting, version])];
      return { running, starting, maxActive: limits.maxActive, isKept };
    };
    return makeRoom(version, read, (app) => this.#stopIdle(app));
  }
}
