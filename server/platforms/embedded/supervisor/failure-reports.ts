import { UnhealthyScript } from "../../../../domain/ports/edge-platform.ts";
import type { ScriptVersion } from "../script-version.ts";
import { RunsElsewhere } from "../app-placement.ts";
import { describeFailure } from "./describe-failure.ts";
import type { RestartBackoff } from "./restart-backoff.ts";
import type { RunningApp } from "./running-app.ts";
import type { SupervisorOptions } from "./supervisor-options.ts";
import { AppUnavailable } from "./unavailable-app.ts";

interface FailureReportsDeps extends Pick<SupervisorOptions, "log" | "runtimeLogs"> {
  backoff: RestartBackoff;
}

/** Reports failures of apps to the logs, and delays the next start. */
export class FailureReports {
  readonly #deps: FailureReportsDeps;

  constructor(deps: FailureReportsDeps) {
    this.#deps = deps;
  }

  /** @returns what the waiting requests get; `null` if another edge runs the app */
  addStart({ slug, appId }: ScriptVersion, cause: unknown): AppUnavailable | null {
    if (cause instanceof RunsElsewhere) return null;
    if (cause instanceof AppUnavailable) return cause;
    const { backoff, log, runtimeLogs } = this.#deps;
    backoff.recordFailure(slug);
    log.warn({ slug, appId, err: cause }, "app failed to start");
    if (cause instanceof UnhealthyScript) runtimeLogs.reportError({ id: appId, slug }, cause.message);
    const retryAfterSeconds = Math.max(1, Math.ceil(backoff.delayMs(slug) / 1000));
    return new AppUnavailable("The app failed to start.", retryAfterSeconds, { cause });
  }

  /** Reports the end of a process. */
  addEnd({ version: { slug, appId }, process }: RunningApp, reason: string): void {
    const { backoff, log, runtimeLogs } = this.#deps;
    backoff.recordFailure(slug);
    const lastError = process.output.lastError();
    log.warn({ slug, appId, reason, lastError }, "app process ended");
    runtimeLogs.reportError({ id: appId, slug }, describeFailure(reason, lastError));
  }
}
