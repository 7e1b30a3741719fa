/** The time of one program, which begins with it: how long a sandbox takes to come up is not its fault. */
export class RunClock {
  readonly #timeoutMs: number;
  readonly #onTimeUp: () => void;
  #startedAt = performance.now();
  #timer: NodeJS.Timeout | null = null;

  constructor(timeoutMs: number, onTimeUp: () => void) {
    this.#timeoutMs = timeoutMs;
    this.#onTimeUp = onTimeUp;
  }

  start(): void {
    this.#startedAt = performance.now();
    this.#timer = setTimeout(this.#onTimeUp, this.#timeoutMs);
  }

  /** For a program that never started, such as one that cannot be parsed, since it was asked for. */
  elapsedMs(): number {
    return Math.round(performance.now() - this.#startedAt);
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
  }
}
