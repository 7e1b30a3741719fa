interface Process extends AsyncDisposable {
  /** Resolves when it is no more, by whatever mishap. */
  ended: Promise<void>;
}

/** Keeps one process started ahead of time, so that whoever needs one next need not wait for that. */
export class Standby<P extends Process> {
  readonly #start: () => Promise<P>;
  readonly #waitingMs: number;
  /** `null` in it when it could not be started: whoever starts the next one will be told why. */
  #next: Promise<P | null> | null = null;
  #expiry: NodeJS.Timeout | undefined;
  #ending = Promise.resolve();
  #isClosed = false;

  /** @param waitingMs - how long one may wait before it is ended */
  constructor(start: () => Promise<P>, waitingMs: number) {
    this.#start = start;
    this.#waitingMs = waitingMs;
  }

  /** The process that waits, or else a new one; it is the caller's to end. */
  async take(): Promise<P> {
    return (await this.#leave()) ?? this.#start();
  }

  /** Starts the next one, if none waits already. */
  prepare(): void {
    if (this.#next !== null || this.#isClosed) return;
    const next = this.#start().catch(() => null);
    this.#next = next;
    this.#expiry = setTimeout(() => void this.#end(next), this.#waitingMs).unref();
    void this.#clearAwayDead(next);
  }

  /** Ends the one that waits; none will from now on. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#end(this.#next);
  }

  async #clearAwayDead(waiting: Promise<P | null>): Promise<void> {
    const process = await waiting;
    await process?.ended;
    await this.#end(waiting);
  }

  /** Ends one that waits, unless it was taken. */
  #end(waiting: Promise<P | null> | null): Promise<void> {
    if (this.#next === waiting) this.#ending = end(this.#leave());
    return this.#ending;
  }

  #leave(): Promise<P | null> | null {
    const next = this.#next;
    this.#next = null;
    clearTimeout(this.#expiry);
    return next;
  }
}

async function end(waiting: Promise<Process | null> | null): Promise<void> {
  const process = await waiting;
  try {
    await process?.[Symbol.asyncDispose]();
  } catch {
    // Files that could not be removed are left to the next start of the service.
  }
}
