import type { RunningApp } from "./running-app.ts";

export interface WatchdogLimits {
  /** An app nobody asked for so long is stopped. */
  idleMs: number;
  /** An app whose event loop stands still for so long is killed. */
  hangMs: number;
  /** An app that holds more resident memory is killed. */
  residentMb: number;
}

interface Actions {
  running(): RunningApp[];
  stopIdle(app: RunningApp): Promise<void>;
  kill(app: RunningApp, reason: string): void;
  report(error: unknown): void;
}

const TICK_MS = 1000;
const PROBE_TIMEOUT_MS = 800;

/** Looks at every running app once a second and has the idle stopped, the stuck and the overgrown killed. */
export class Watchdog {
  readonly #limits: WatchdogLimits;
  readonly #actions: Actions;
  readonly #timer: NodeJS.Timeout;
  readonly #looking = new Set<RunningApp>();

  constructor(limits: WatchdogLimits, actions: Actions) {
    this.#limits = limits;
    this.#actions = actions;
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    for (const app of this.#actions.running()) {
      if (this.#looking.has(app)) continue;
      this.#looking.add(app);
      void this.#look(app)
        .catch(this.#actions.report)
        .finally(() => this.#looking.delete(app));
    }
  }

  async #look(app: RunningApp): Promise<void> {
    if (app.idle && Date.now() - app.lastUsedAt >= this.#limits.idleMs) return this.#actions.stopIdle(app);
    if ((await app.process.residentMb()) > this.#limits.residentMb) return this.#actions.kill(app, "memory");
    if (await app.process.isResponsive(PROBE_TIMEOUT_MS)) {
      app.stuckSince = null;
      return;
    }
    app.stuckSince ??= Date.now();
    if (Date.now() - app.stuckSince >= this.#limits.hangMs) this.#actions.kill(app, "hang");
  }
}
