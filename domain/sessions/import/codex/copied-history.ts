import { isRecord } from "../../../shared/json.ts";
import { readId } from "../entry-builder.ts";

/** The records of a copied history are written at once. In milliseconds. */
const MAX_COPY_MS = 1000;

type Fields = Record<string, unknown>;

/**
 * Tells the history that a fork has copied from another session from the records of the fork itself. The copy begins with the
 * `session_meta` of the other session, and ends with the first turn of the fork. A subagent says instead with which number its
 * own records begin.
 */
export class CopiedHistory {
  #sessionId: string | null = null;
  #startedAt = Number.NaN;
  #isCopying = false;
  #hasTurnIds = false;
  /** The number of the first own record of a subagent. */
  #ownOrdinal: number | undefined;
  readonly #otherIds = new Set<string>();

  /** The id of the session that the file belongs to; `null` before its `session_meta`. */
  get sessionId(): string | null {
    return this.#sessionId;
  }

  /** Whether the records since the last one are copies. */
  get isCopying(): boolean {
    return this.#isCopying;
  }

  /** Whether an id is that of a session from which records were copied, or which started this one. */
  isOther(threadId: unknown): boolean {
    return typeof threadId === "string" && this.#otherIds.has(threadId);
  }

  read({ type, timestamp, ordinal }: Fields, payload: Fields): void {
    if (type === "session_meta") this.#readSession(timestamp, payload);
    if (this.#ownOrdinal !== undefined && typeof ordinal === "number") this.#isCopying = ordinal < this.#ownOrdinal;
    else if (type !== "session_meta" && this.#isCopying) this.#isCopying = !this.#isOwn(timestamp, payload["turn_id"]);
  }

  #readSession(timestamp: unknown, payload: Fields): void {
    const id = readId(payload["id"]);
    if (id === undefined) return;
    if (this.#sessionId === null) {
      this.#sessionId = id;
      this.#startedAt = Date.parse(String(timestamp));
      this.#ownOrdinal = readOrdinal(payload["subagent_history_start_ordinal"]);
      for (const other of findOrigins(payload)) this.#otherIds.add(other);
    } else if (id !== this.#sessionId) {
      this.#isCopying = true;
      if (this.#otherIds.size < MAX_OTHERS) this.#otherIds.add(id);
    }
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

const MAX_OTHERS = 1000;

/** Some versions write the number as text. */
function readOrdinal(value: unknown): number | undefined {
  const ordinal = typeof value === "string" && value !== "" ? Number(value) : value;
  return typeof ordinal === "number" && Number.isInteger(ordinal) ? ordinal : undefined;
}

function findOrigins({ id, forked_from_id: fork, parent_thread_id: parent, history_base: base }: Fields): string[] {
  const ids = [fork, parent, isRecord(base) ? base["thread_id"] : undefined];
  return ids.filter((other) => typeof other === "string" && other !== id) as string[];
}
