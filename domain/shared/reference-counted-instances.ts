/** Instances by key that exist as long as they are in use. Users of the same key share one. */
export class ReferenceCountedInstances<T extends Disposable> implements Disposable {
  readonly #instances = new Map<string, { instance: T; users: number }>();

  /** Returns the instance of a key, created if there is none. It is in use until `release` is called. */
  acquire(key: string, create: () => T): { instance: T; release: () => void } {
    const shared = this.#instances.get(key) ?? { instance: create(), users: 0 };
    shared.users += 1;
    this.#instances.set(key, shared);
    let isReleased = false;
    const release = () => {
      if (isReleased) return;
      isReleased = true;
      if (--shared.users > 0) return;
      this.#instances.delete(key);
      shared.instance[Symbol.dispose]();
    };
    return { instance: shared.instance, release };
  }

  /** Returns the instance of a key that is in use. */
  get(key: string): T | undefined {
    return this.#instances.get(key)?.instance;
  }

  /** All instances that are in use. */
  all(): T[] {
    return [...this.#instances.values()].map(({ instance }) => instance);
  }

  [Symbol.dispose](): void {
    for (const instance of this.all()) instance[Symbol.dispose]();
  }
}
