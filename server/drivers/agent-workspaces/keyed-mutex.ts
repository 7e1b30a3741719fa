/** Runs the tasks of one key one after the other, in the order of their calls. */
export class KeyedMutex {
  /** When the last task of each key ends. */
  readonly #ends = new Map<string, Promise<void>>();

  /**
   * @param signal - ends the wait; it has no effect while the task runs
   * @throws the reason of the signal
   */
  async run<T>(key: string, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const previous = this.#ends.get(key);
    const { promise: ownEnd, resolve: end } = Promise.withResolvers<void>();
    const allEnd = Promise.all([previous, ownEnd]).then(() => undefined);
    this.#ends.set(key, allEnd);
    void this.#deleteAfter(key, allEnd);
    try {
      if (previous !== undefined) await waitFor(previous, signal);
      return await task();
    } finally {
      end();
    }
  }

  /** Unless a later task has the key by then. */
  async #deleteAfter(key: string, end: Promise<void>): Promise<void> {
    await end;
    if (this.#ends.get(key) === end) this.#ends.delete(key);
  }
}

async function waitFor(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason as Error);
  signal.addEventListener("abort", abort);
  try {
    await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
