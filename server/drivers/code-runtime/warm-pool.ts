interface PooledProcess extends AsyncDisposable {
  /** Resolves when the process has ended, for any reason. */
  ended: Promise<void>;
}

interface IdleProcess<P> {
  /** `null` when the process could not be started. The next caller then starts one itself, and receives the error. */
  started: Promise<P | null>;
  expiry: NodeJS.Timeout;
}

/** Starts processes ahead of time, so that a caller need not wait for the start. */
export class WarmPool<P extends PooledProcess> {
  readonly #start: () => Promise<P>;
  readonly #maxIdle: number;
  readonly #idleTimeoutMs: number;
  /** In insertion order, so that the oldest is used first. */
  readonly #idle = new Set<IdleProcess<P>>();
  readonly #disposals = new Set<Promise<void>>();
  #isClosed = false;

  /** @param options.idleTimeoutMs - an idle process is stopped after this time */
  constructor(start: () => Promise<P>, options: { maxIdle: number; idleTimeoutMs: number }) {
    this.#start = start;
    this.#maxIdle = options.maxIdle;
    this.#idleTimeoutMs = options.idleTimeoutMs;
  }

  /** Returns an idle process, or starts one. The caller disposes it. */
  async acquire(): Promise<P> {
    const [oldest] = this.#idle;
    const idle = oldest === undefined ? null : await this.#remove(oldest);
    return idle ?? this.#start();
  }

  /** Starts one more process, unless enough are idle. */
  prewarm(): void {
    if (this.#idle.size >= this.#maxIdle || this.#isClosed) return;
    const expiry = setTimeout(() => this.#stop(process), this.#idleTimeoutMs).unref();
    const process: IdleProcess<P> = { started: this.#start().catch(() => null), expiry };
    this.#idle.add(process);
    void this.#removeWhenEnded(process);
  }

  /** Stops all idle processes. No process becomes idle after this. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const process of this.#idle) this.#stop(process);
    await Promise.all(this.#disposals);
  }

  async #removeWhenEnded(idle: IdleProcess<P>): Promise<void> {
    const process = await idle.started;
    await process?.ended;
    this.#stop(idle);
  }

  /** Stops an idle process. Does nothing when a caller acquired it. */
  #stop(idle: IdleProcess<P>): void {
    if (!this.#idle.has(idle)) return;
    const disposal = dispose(this.#remove(idle)).finally(() => this.#disposals.delete(disposal));
    this.#disposals.add(disposal);
  }

  #remove(idle: IdleProcess<P>): Promise<P | null> {
    clearTimeout(idle.expiry);
    this.#idle.delete(idle);
    return idle.started;
  }
}

async function dispose(started: Promise<PooledProcess | null>): Promise<void> {
  const process = await started;
  try {
    await process?.[Symbol.asyncDispose]();
  } catch {
    // The next start of the service removes files that cannot be removed now.
  }
}
