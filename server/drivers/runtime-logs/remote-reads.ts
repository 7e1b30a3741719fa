import type { LoggedApp, RuntimeLogRecord } from "../../../domain/ports/runtime-logs.ts";

export interface ReadRequest {
  id: number;
  app: LoggedApp;
}

export interface ReadReply {
  id: number;
  records: RuntimeLogRecord[];
}

interface RemoteReadsOptions {
  replyMs: number;
  /** Sends a request to every process. @returns how many processes get it */
  publish(request: ReadRequest): Promise<number>;
}

interface PendingRead {
  records: RuntimeLogRecord[];
  replies: number;
  /** How many processes got the request; `null` until it is known. */
  expected: number | null;
  resolve(): void;
}

/** Collects the responses of other processes to read requests. */
export class RemoteReads implements Disposable {
  readonly #options: RemoteReadsOptions;
  readonly #pending = new Map<number, PendingRead>();
  #lastId = 0;

  constructor(options: RemoteReadsOptions) {
    this.#options = options;
  }

  /**
   * Returns the records of all processes that respond in time.
   *
   * @throws when the request cannot be sent
   */
  async read(app: LoggedApp): Promise<RuntimeLogRecord[]> {
    const id = ++this.#lastId;
    const { promise, resolve } = Promise.withResolvers<void>();
    const pending: PendingRead = { records: [], replies: 0, expected: null, resolve };
    this.#pending.set(id, pending);
    const timer = setTimeout(resolve, this.#options.replyMs);
    try {
      pending.expected = await this.#options.publish({ id, app });
      if (pending.replies >= pending.expected) resolve();
      await promise;
    } finally {
      clearTimeout(timer);
      this.#pending.delete(id);
    }
    return pending.records;
  }

  receive({ id, records }: ReadReply): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    pending.records.push(...records);
    pending.replies += 1;
    if (pending.expected !== null && pending.replies >= pending.expected) pending.resolve();
  }

  [Symbol.dispose](): void {
    for (const { resolve } of this.#pending.values()) resolve();
  }
}
