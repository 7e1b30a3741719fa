import { setTimeout as sleep } from "node:timers/promises";
import type { ScriptVersion } from "../scripts/script-store.ts";
import type { WorkerdProcess } from "../workerd/workerd-process.ts";

/** The right to send one request to an app; the app is not stopped for idleness before `release`. */
export interface Lease {
  port: number;
  /** May be called more than once. */
  release(): void;
}

/** One app that has a process now. */
export class RunningApp {
  readonly version: ScriptVersion;
  readonly process: WorkerdProcess;
  /** When the health of the event loop was first found lacking; `null` while it turns. */
  stuckSince: number | null = null;
  #inFlight = 0;
  #lastUsedAt = Date.now();
  #onIdle = Promise.withResolvers<void>();

  constructor(version: ScriptVersion, process: WorkerdProcess) {
    this.version = version;
    this.process = process;
  }

  get idle(): boolean {
    return this.#inFlight === 0;
  }

  get lastUsedAt(): number {
    return this.#lastUsedAt;
  }

  lease(): Lease {
    this.#inFlight++;
    this.#lastUsedAt = Date.now();
    let held = true;
    const release = () => {
      if (held) this.#leave();
      held = false;
    };
    return { port: this.process.port, release };
  }

  /** Waits until no request is in flight, but no longer than `boundMs`. */
  async drained(boundMs: number): Promise<void> {
    if (this.idle) return;
    this.#onIdle = Promise.withResolvers<void>();
    const bound = new AbortController();
    await Promise.race([this.#onIdle.promise, sleep(boundMs, null, { signal: bound.signal }).catch(() => {})]);
    bound.abort();
  }

  #leave(): void {
    this.#inFlight--;
    this.#lastUsedAt = Date.now();
    if (this.idle) this.#onIdle.resolve();
  }
}
