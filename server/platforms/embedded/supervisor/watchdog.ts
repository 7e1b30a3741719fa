import { CpuTimeLimit } from "../cpu-time-limit.ts";
import type { RunningApp } from "./running-app.ts";

export interface WatchdogLimits {
  /** An app without a request for this time is stopped. */
  idleMs: number;
  /** An app whose event loop does not respond is killed when it has used this much CPU time meanwhile, as an endless loop does. */
  hangMs: number;
  /** An app that uses more resident memory is killed. */
  residentMb: number;
}

interface WatchdogActions {
  running(): RunningApp[];
  /** Whether the app continues to run when it is idle. */
  isKept(app: RunningApp): boolean;
  stopIdle(app: RunningApp): Promise<void>;
  kill(app: RunningApp, reason: string): void;
  report(error: unknown): void;
}

const CHECK_INTERVAL_MS = 1000;
const PROBE_TIMEOUT_MS = 800;

/** Checks every running app once a second: stops idle apps, and kills apps that hang or use too much memory. */
export class Watchdog {
  readonly #limits: WatchdogLimits;
  readonly #actions: WatchdogActions;
  readonly #timer: NodeJS.Timeout;
  readonly #inProgress = new Set<RunningApp>();

  constructor(limits: WatchdogLimits, actions: WatchdogActions) {
    this.#limits = limits;
    this.#actions = actions;
    this.#timer = setInterval(() => this.#checkAll(), CHECK_INTERVAL_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #checkAll(): void {
    for (const app of this.#actions.running()) {
      if (this.#inProgress.has(app)) continue;
      this.#inProgress.add(app);
      void this.#check(app)
        .catch(this.#actions.report)
        .finally(() => this.#inProgress.delete(app));
    }
  }

  async #check(app: RunningApp): Promise<void> {
    const { idleMs, residentMb, hangMs } = this.#limits;
    if (app.isIdle && performance.now() - app.lastUsedMs >= idleMs && !this.#actions.isKept(app))
      return this.#actions.stopIdle(app);
    if (await app.process.usesMoreThan(residentMb)) return this.#actions.kill(app, "memory");
    if (await app.process.isResponsive(PROBE_TIMEOUT_MS)) {
      app.unresponsive = null;
      return;
    }
    const cpuMs = await app.process.cpuMs();
    app.unresponsive ??= new CpuTimeLimit(hangMs, cpuMs);
    if (app.unresponsive.exceededBy(cpuMs) !== null) this.#actions.kill(app, "hang");
  }
}
