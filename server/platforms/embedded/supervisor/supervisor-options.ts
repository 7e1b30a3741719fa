import type { Scripts } from "../scripts/script-store.ts";
import type { LaunchDeps } from "./launch-app.ts";
import type { PrepareDeps } from "./prepared-app.ts";
import type { WatchdogLimits } from "./watchdog.ts";

/** Receives reports about apps. pino's logger is one. */
export interface PlatformLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface SupervisorLimits extends WatchdogLimits {
  /** How many apps may have a process at the same time. */
  maxActive: number;
  /** How long a stop waits for requests in flight. */
  drainMs: number;
}

export interface SupervisorOptions extends LaunchDeps, PrepareDeps {
  store: Scripts;
  limits: SupervisorLimits;
  /** Whether an app continues to run without requests, also if another app needs a process. */
  isKept: (appId: string) => boolean;
  /** Called when an app starts, which may change what it stores. */
  onStart?: (slug: string) => void;
  log: PlatformLog;
}
