import type { AlwaysOnApps } from "../../../../domain/ports/always-on-apps.ts";
import type { StoredApp } from "../../../../domain/ports/app-storage.ts";
import type { Supervisor } from "./supervisor.ts";
import type { PlatformLog } from "./supervisor-options.ts";
import { AppRestricted, AppUnavailable } from "./unavailable-app.ts";

interface KeptAppsOptions {
  apps: Pick<Supervisor, "acquire" | "active">;
  /** How many apps are kept running at most. */
  limit: number;
  log: PlatformLog;
}

const CHECK_INTERVAL_MS = 1000;

/** Starts the apps that are always on whenever they have no process, one after the other. */
export class KeptApps implements AlwaysOnApps {
  readonly #options: KeptAppsOptions;
  readonly #timer: NodeJS.Timeout;
  #kept = new Map<string, StoredApp>();
  #isChecking = false;

  constructor(options: KeptAppsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#check(), CHECK_INTERVAL_MS).unref();
  }

  set(apps: readonly StoredApp[]): void {
    this.#kept = new Map(apps.slice(0, this.#options.limit).map((app) => [app.appId, app]));
    void this.#check();
  }

  has(appId: string): boolean {
    return this.#kept.has(appId);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#kept.clear();
  }

  async #check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    const { apps } = this.#options;
    for (const { appId, slug } of this.#kept.values())
      if (this.has(appId) && !apps.active.includes(slug)) await this.#start(slug);
    this.#isChecking = false;
  }

  /** Starts an app as a request without its token would. If that is not possible now, the next check tries it again. */
  async #start(slug: string): Promise<void> {
    const { apps, log } = this.#options;
    try {
      (await apps.acquire(slug, false))?.release();
    } catch (err) {
      if (err instanceof AppUnavailable || err instanceof AppRestricted) return;
      log.warn({ slug, err }, "an app that is always on could not be started");
    }
  }
}
