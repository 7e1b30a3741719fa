/** Lets a number of holders in at a time; the others wait in the order they came. */
export class Semaphore {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(places: number) {
    this.#free = places;
  }

  /**
   * @returns what gives the place back; may be called again, without effect
   * @throws the signal's reason, when that is aborted while waiting
   */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn(signal);
    return once(() => this.#passOn());
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener("abort", giveUp);
        resolve();
      };
      const giveUp = () => {
        this.#waiting.delete(enter);
        reject(signal.reason as Error);
      };
      this.#waiting.add(enter);
      signal.addEventListener("abort", giveUp, { once: true });
    });
  }

  #passOn(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free += 1;
    else {
      this.#waiting.delete(next);
      next();
    }
  }
}

function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (!done) action();
    done = true;
  };
}
