import type { Readable } from "node:stream";
import type { Caller } from "../../domain/shared/caller.ts";

/** How many streams may be open at the same time. */
export interface StreamLimits {
  perToken: number;
  perOrganization: number;
  perProcess: number;
}

/** A limit that is reached. */
export interface ReachedLimit {
  limit: number;
  of: "token" | "organization" | "process";
}

/**
 * The limits for streams of notifications. A user runs several clients with one token, and each has a stream. One
 * organization leaves room for the others.
 */
export const STREAM_LIMITS: StreamLimits = { perToken: 32, perOrganization: 256, perProcess: 2048 };

/**
 * Limits how many streams of one kind are open. Opening one counts as a single call, so a limit of calls alone would
 * allow any number. The tokens that an OAuth client gets in one session count as one token.
 */
export class StreamLimiter {
  readonly #limits: StreamLimits;
  readonly #countByKey = new Map<string, number>();

  constructor(limits: StreamLimits = STREAM_LIMITS) {
    this.#limits = limits;
  }

  /**
   * Counts a stream until it closes.
   *
   * @returns the limit that is reached, and the stream is then not counted; `null` otherwise
   */
  add(stream: Readable, { orgId, credential }: Caller): ReachedLimit | null {
    const { perToken, perOrganization, perProcess } = this.#limits;
    const counted = [
      { of: "token", key: `${credential.kind} ${credential.id}`, limit: perToken },
      { of: "organization", key: `organization ${orgId}`, limit: perOrganization },
      { of: "process", key: "process", limit: perProcess },
    ] as const;
    const reached = counted.find(({ key, limit }) => this.#count(key) >= limit);
    if (reached !== undefined) return { limit: reached.limit, of: reached.of };
    for (const { key } of counted) this.#countByKey.set(key, this.#count(key) + 1);
    stream.once("close", () => {
      for (const { key } of counted) this.#remove(key);
    });
    return null;
  }

  #count(key: string): number {
    return this.#countByKey.get(key) ?? 0;
  }

  #remove(key: string): void {
    const count = this.#count(key) - 1;
    if (count > 0) this.#countByKey.set(key, count);
    else this.#countByKey.delete(key);
  }
}
