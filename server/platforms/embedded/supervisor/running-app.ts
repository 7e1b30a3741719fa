import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { StorageRestriction } from "../../../../domain/ports/app-storage.ts";
import type { Scripts } from "../scripts/script-store.ts";
import type { ScriptVersion } from "../script-version.ts";
import type { AppAddress } from "../../../ports/app-address.ts";
import type { AppProcess } from "../app-process.ts";
import type { CpuTimeLimit } from "../cpu-time-limit.ts";
import type { EdgeAddress } from "../app-placement.ts";
import { AppUnavailable } from "./unavailable-app.ts";

/** An app that may receive one request. The app is not stopped as idle before `release`. */
export interface AcquiredApp {
  appId: string;
  address: AppAddress;
  /** Whether the address is the edge proxy of another edge, which runs the app. */
  isOtherEdge?: boolean;
  /** A connection to the address, for this request only. */
  connection?: Socket;
  /** May be called more than once. */
  release(): void;
}

/**
 * An app that another edge runs.
 *
 * @throws {AppUnavailable} for a request that an edge has forwarded already, because it could be forwarded without end
 */
export function appOnEdge(appId: string, address: EdgeAddress, isForwarded: boolean): AcquiredApp {
  if (isForwarded) throw new AppUnavailable("The app moves to another edge. Try again shortly.", 1);
  return { appId, address, isOtherEdge: true, release: () => undefined };
}

/** An app that has a process. */
export class RunningApp {
  readonly version: ScriptVersion;
  /** The version of the variables that it runs with. */
  readonly variablesVersion: number;
  readonly process: AppProcess;
  /** Of the event loop since it was first found unresponsive; `null` while it responds. */
  unresponsive: CpuTimeLimit | null = null;
  /** Limits the requests that the app serves. */
  restriction: StorageRestriction | null = null;
  #inFlight = 0;
  #lastUsedMs = performance.now();
  #onIdle = Promise.withResolvers<void>();

  constructor(version: ScriptVersion, variablesVersion: number, process: AppProcess) {
    this.version = version;
    this.variablesVersion = variablesVersion;
    this.process = process;
  }

  get isIdle(): boolean {
    return this.#inFlight === 0;
  }

  /** Milliseconds on the clock of `performance.now()`, which is finer than `Date.now()` and never set back. */
  get lastUsedMs(): number {
    return this.#lastUsedMs;
  }

  acquire(): AcquiredApp {
    this.#inFlight++;
    this.#lastUsedMs = performance.now();
    let isReleased = false;
    const release = () => {
      if (!isReleased) this.#release();
      isReleased = true;
    };
    return { appId: this.version.appId, address: this.process.address, release };
  }

  /** Waits until no request is in flight, at most `timeoutMs`. */
  async drain(timeoutMs: number): Promise<void> {
    if (this.isIdle) return;
    this.#onIdle = Promise.withResolvers<void>();
    const finished = new AbortController();
    await Promise.race([this.#onIdle.promise, sleep(timeoutMs, null, { signal: finished.signal }).catch(() => {})]);
    finished.abort();
  }

  #release(): void {
    this.#inFlight--;
    this.#lastUsedMs = performance.now();
    if (this.isIdle) this.#onIdle.resolve();
  }
}

/** Whether another version is live, or the restriction has changed, since an app started. */
export async function isOutdated({ version, restriction }: RunningApp, scripts: Scripts): Promise<boolean> {
  const live = await scripts.live(version.slug);
  if (live?.name !== version.name) return true;
  return !isDeepStrictEqual(await scripts.restriction(live), restriction);
}
