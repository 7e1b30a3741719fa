import { setTimeout as delay } from "node:timers/promises";
import { openSession, tryLock } from "./database-lock.ts";

interface LeadershipOptions {
  url: string;
  /** Begins the work of the leader. It is disposed when another process may have become the leader. */
  begin: () => AsyncDisposable;
  log: { info(message: string): void; warn(fields: object, message: string): void };
}

/** Any number that no other program on the database uses for an advisory lock. */
const LOCK = 7_240_118_214;
/** How soon another process takes over, at most, after PostgreSQL has noticed the end of the leader. */
const RETRY_MS = 2000;

/**
 * Does work in one of the processes that share a database: in the leader, which holds a lock. The lock belongs to a database session, so
 * another process becomes the leader when this one ends, however it ends. Work must bear that two leaders overlap for seconds: a process
 * that has lost its connection notices later than the database.
 */
export class Leadership implements AsyncDisposable {
  readonly #options: LeadershipOptions;
  readonly #closing = new AbortController();
  readonly #ended: Promise<void>;

  constructor(options: LeadershipOptions) {
    this.#options = options;
    this.#ended = this.#run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { log } = this.#options;
    const { signal } = this.#closing;
    while (!signal.aborted)
      try {
        await this.#lead(signal);
      } catch (err) {
        if (!signal.aborted) log.warn({ err }, "this process cannot try to become the leader; it tries again");
        await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
  }

  /** Waits until this process is the leader, and then until it no longer is. */
  async #lead(signal: AbortSignal): Promise<void> {
    const { url, begin, log } = this.#options;
    const session = await openSession(url, signal, async (client) => {
      while (!(await tryLock(client, LOCK))) await delay(RETRY_MS, undefined, { signal });
    });
    log.info("this worker now does what is due periodically");
    await using _work = begin();
    await session.ended;
  }
}
