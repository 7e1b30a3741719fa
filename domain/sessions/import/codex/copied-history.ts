import { readId } from "../entry-builder.ts";

/** The records of a copied history are written at once. In milliseconds. */
const MAX_COPY_MS = 1000;

type Fields = Record<string, unknown>;

/**
 * Tells the history that a fork has copied from another session from the records of the fork itself. The copy begins with the
 * `session_meta` of the other session, and ends with the first turn of the fork.
 */
export class CopiedHistory {
  #sessionId: string | null = null;
  #startedAt = Number.NaN;
  #isCopying = false;
  #hasTurnIds = false;

  /** The id of the session that the file belongs to; `null` before its `session_meta`. */
  get sessionId(): string | null {
    return this.#sessionId;
  }

  /** Whether the records since the last one are copies. */
  get isCopying(): boolean {
    return this.#isCopying;
  }

  read({ type, timestamp }: Fields, payload: Fields): void {
    if (type === "session_meta") this.#readSession(timestamp, payload);
    else if (this.#isCopying) this.#isCopying = !this.#isOwn(timestamp, payload["turn_id"]);
  }

  #readSession(timestamp: unknown, payload: Fields): void {
    const id = readId(payload["id"]);
    if (id === undefined) return;
    if (this.#sessionId === null) {
      this.#sessionId = id;
      this.#startedAt = Date.parse(String(timestamp));
    } else if (id !== this.#sessionId) this.#isCopying = true;
  }

  /** The ids of sessions and turns are UUIDs of version 7, which sort by their time. */
  #isOwn(timestamp: unknown, turnId: unknown): boolean {
    if (typeof turnId === "string") {
      this.#hasTurnIds = true;
      return turnId > (this.#sessionId ?? "");
    }
    return !this.#hasTurnIds && Date.parse(String(timestamp)) - this.#startedAt > MAX_COPY_MS;
  }
}
