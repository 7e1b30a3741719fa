import { setTimeout as sleep } from "node:timers/promises";

interface PeriodicTaskOptions {
  run(signal: AbortSignal): Promise<void>;
  pauseMs: number;
  /** How many times as long as a run a pause is at least, which bounds the load of long runs. */
  pauseFactor?: number;
  report(error: unknown): void;
}

/** Runs a task again and again, with a pause after each run. Runs never overlap. */
export class PeriodicTask implements AsyncDisposable {
  readonly #stop = new AbortController();
  readonly #finished: Promise<void>;

  constructor(options: PeriodicTaskOptions) {
    this.#finished = this.#loop(options);
  }

  /** Waits for the current run, which can end early when it observes the signal. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#finished;
  }

  async #loop({ run, pauseMs, pauseFactor = 0, report }: PeriodicTaskOptions): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const startedAt = performance.now();
      await run(signal).catch(report);
      const pause = Math.max(pauseMs, (performance.now() - startedAt) * pauseFactor);
      await sleep(pause, null, { signal, ref: false }).catch(() => {});
    }
  }
}
