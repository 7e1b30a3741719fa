/** Measures and limits the time of one program. It starts now: the start of the sandbox does not count. */
export class RunTimer {
  readonly #startedAt = performance.now();
  readonly #timeout: NodeJS.Timeout;

  constructor(timeoutMs: number, onTimeout: () => void) {
    this.#timeout = setTimeout(onTimeout, timeoutMs);
  }

  getElapsedMs(): number {
    return Math.round(performance.now() - this.#startedAt);
  }

  stop(): void {
    clearTimeout(this.#timeout);
  }
}
