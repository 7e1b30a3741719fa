import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:net";

/** The user ids of sandboxes, for each kind of untrusted code. No account of the host may have one of them. */
export const UID_RANGES = {
  builds: { first: 60_600, count: 100 },
  apps: { first: 60_700, count: 400 },
  programs: { first: 61_100, count: 80 },
} as const;

/** The kinds of untrusted code, which have different user ids, limits and shares of the processor. */
export type SandboxKind = keyof typeof UID_RANGES;

/** The user ids of the embedded PostgreSQL servers, on a host where the service runs as root. No sandbox uses them. */
export const POSTGRES_UIDS = { service: 61_180, apps: 61_181 } as const;

/** A user id that no other sandbox has until it is released. */
export interface AcquiredUid {
  uid: number;
  release(): void;
}

/** Allocates user ids to sandboxes, exclusively among all processes of the machine that share a network namespace. */
export class UidPool {
  readonly #range: SandboxKind;
  readonly #byFolder = new Map<string, { acquired: Promise<AcquiredUid>; users: number }>();

  constructor(range: SandboxKind) {
    this.#range = range;
  }

  /**
   * @param preferred - returned if it is a free id of the range; the owner of the files avoids a recursive chown
   * @throws when all ids of the range are in use
   */
  async acquire(preferred: number | null): Promise<AcquiredUid> {
    const { first, count } = UID_RANGES[this.#range];
    // A random order makes it rare that the files of two apps have one owner.
    const start = randomInt(count);
    const uids = Array.from({ length: count }, (_, index) => first + ((start + index) % count));
    const isInRange = preferred !== null && preferred >= first && preferred < first + count;
    for (const uid of isInRange ? [preferred, ...uids] : uids) {
      const lock = await lockUid(uid);
      if (lock) return { uid, release: () => void lock.close() };
    }
    throw new Error(`All ${count} user ids for ${this.#range} are in use`);
  }

  /**
   * Returns the same id for all sandboxes that have a folder at the same time. With another id, the second one would take the
   * folder from the first.
   *
   * @param preferred - see `acquire`
   */
  async acquireFor(folder: string, preferred: number | null): Promise<AcquiredUid> {
    const shared = this.#byFolder.get(folder) ?? { acquired: this.acquire(preferred), users: 0 };
    this.#byFolder.set(folder, shared);
    shared.users++;
    const leave = () => {
      if (--shared.users > 0) return;
      this.#byFolder.delete(folder);
      shared.acquired.then(({ release }) => release()).catch(() => undefined);
    };
    const { uid } = await shared.acquired.catch((error: unknown) => {
      leave();
      throw error;
    });
    return { uid, release: leave };
  }
}

/**
 * Locks a user id by listening on an abstract socket: the kernel makes that exclusive between processes, and ends it
 * when the process dies. Returns `null` if another sandbox has the id.
 */
async function lockUid(uid: number): Promise<Server | null> {
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
