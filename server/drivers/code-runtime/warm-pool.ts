interface Process extends AsyncDisposable {
  /** Resolves when it is no more, by whatever mishap. */
  ended: Promise<void>;
}

interface Waiting<P> {
  /** `null` when it could not be started: whoever starts the next one will be told why. */
  started: Promise<P | null>;
  expiry: NodeJS.Timeout;
}

/** Keeps processes started ahead of time, so that whoever needs one next need not wait for that. */
export class WarmPool<P extends Process> {
  readonly #start: () => Promise<P>;
  readonly #most: number;
  readonly #waitingMs: number;
  /** The eldest first. */
  readonly #waiting = new Set<Waiting<P>>();
  readonly #ending = new Set<Promise<void>>();
  #isClosed = false;

  /** @param waitingMs - how long one may wait before it is ended */
  constructor(start: () => Promise<P>, { most, waitingMs }: { most: number; waitingMs: number }) {
    this.#start = start;
    this.#most = most;
    this.#waitingMs = waitingMs;
  }

  /** A process that waits, or else a new one; it is the caller's to end. */
  async take(): Promise<P> {
    const [next] = this.#waiting;
    return (next && (await this.#leave(next))) ?? this.#start();
  }

  /** Starts one more, if not enough wait already. */
  prepare(): void {
    if (this.#waiting.size >= this.#most || this.#isClosed) return;
    const expiry = setTimeout(() => this.#end(waiting), this.#waitingMs).unref();
    const waiting: Waiting<P> = { started: this.#start().catch(() => null), expiry };
    this.#waiting.add(waiting);
    void this.#clearAwayDead(waiting);
  }

  /** Ends those that wait; none will from now on. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const waiting of this.#waiting) this.#end(waiting);
    await Promise.all(this.#ending);
  }

  async #clearAwayDead(waiting: Waiting<P>): Promise<void> {
    const process = await waiting.started;
    await process?.ended;
    this.#end(waiting);
  }

  /** Ends one that waits, unless it was taken. */
  #end(waiting: Waiting<P>): void {
    if (!this.#waiting.has(waiting)) return;
    const ending = end(this.#leave(waiting)).finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  #leave(waiting: Waiting<P>): Promise<P | null> {
    clearTimeout(waiting.expiry);
    this.#waiting.delete(waiting);
    return waiting.started;
  }
}

async function end(started: Promise<Process | null>): Promise<void> {
  const process = await started;
  try {
    await process?.[Symbol.asyncDispose]();
  } catch {
    // Files that could not be removed are left to the next start of the service.
  }
}
