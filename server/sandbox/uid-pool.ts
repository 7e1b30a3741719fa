import { once } from "node:events";
import { createServer, type Server } from "node:net";

/** A user id that nothing else runs as until it is released. */
export interface Slot {
  uid: number;
  release(): void;
}

/** The user ids that sandboxed commands run as, one for each command running now, on the whole machine. */
export class UidPool {
  readonly #first: number;
  readonly #count: number;

  constructor(first: number, count: number) {
    this.#first = first;
    this.#count = count;
  }

  /**
   * @param preferred - the user id to take if it is a free slot, such as the owner of the files to be worked on
   * @throws when every slot is taken
   */
  async acquire(preferred: number): Promise<Slot> {
    const all = Array.from({ length: this.#count }, (_, index) => this.#first + index);
    const ordered = all.includes(preferred) ? [preferred, ...all] : all;
    for (const uid of ordered) {
      const lock = await lockOf(uid);
      if (lock) return { uid, release: () => void lock.close() };
    }
    throw new Error(`All ${this.#count} sandbox slots are taken`);
  }
}

/**
 * A slot is held by listening on an abstract socket: exclusive between processes, and the kernel gives it back
 * however its holder dies. `null` when somebody else holds it.
 */
async function lockOf(uid: number): Promise<Server | null> {
  const lock = createServer().unref();
  lock.listen(`\0sandbox-slot-${uid}`);
  try {
    await once(lock, "listening");
    return lock;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return null;
    throw error;
  }
}
