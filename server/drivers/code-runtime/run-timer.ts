/** The time of one program, which begins now: how long a sandbox takes to come up is not its fault. */
export class RunClock {
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;

  constructor(timeoutMs: number, onTimeUp: () => void) {
    this.#timer = setTimeout(onTimeUp, timeoutMs);
  }

  elapsedMs(): number {
    return Math.round(performance.now() - this.#startedAt);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
