import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../../shared/json.ts";
import type { EntryUsage } from "../../transcript-entry.ts";
import { combineUsage, isNoUsage, NO_USAGE, readTokenCount, subtractUsage } from "../token-counts.ts";

/**
 * Finds the tokens of each response in the cumulative totals of a thread. Codex writes the same total again when nothing was
 * added, with the usage of the last response, so neither the totals nor these usages can be summed.
 */
export class TokenTotals {
  /** The last total, and the usages that were counted since; `null` before the first. */
  #total: EntryUsage | null;
  /** What the last total has added. */
  #added: EntryUsage | undefined;

  /** @param startsAtZero - `false` for a fork, whose totals begin with those of another session */
  constructor({ startsAtZero }: { startsAtZero: boolean }) {
    this.#total = startsAtZero ? NO_USAGE : null;
  }

  /**
   * Counts the usage of one response. Returns `undefined` for no tokens, and for a response that the last total has counted.
   *
   * @param isNewResponse - whether the file has a response since the last total
   */
  addResponse(usage: EntryUsage, isNewResponse: boolean): EntryUsage | undefined {
    const counted = this.#added;
    this.#added = undefined;
    if (!isNewResponse && counted !== undefined && isDeepStrictEqual(counted, usage)) return undefined;
    if (this.#total !== null) this.#total = combineUsage(this.#total, usage, (a, b) => a + b);
    return isNoUsage(usage) ? undefined : usage;
  }

  /**
   * Returns what the thread has used since the last total; `undefined` if nothing.
   *
   * @param last - the usage of the last response
   * @param isNewResponse - whether the file has a response since the last total
   */
  advance(total: EntryUsage, last: EntryUsage | null, isNewResponse: boolean): EntryUsage | undefined {
    this.#added = this.#advance(total, last, isNewResponse);
    return this.#added;
  }

  #advance(total: EntryUsage, last: EntryUsage | null, isNewResponse: boolean): EntryUsage | undefined {
    const before = this.#total;
    this.#total = total;
    // After a reset, and in a fork, the total says nothing about the last response.
    if (before === null || !isNoUsage(subtractUsage(before, total)))
      return isNewResponse && last !== null && !isNoUsage(last) ? combineUsage(last, total, Math.min) : undefined;
    const added = subtractUsage(total, before);
    return isNoUsage(added) ? undefined : added;
  }

  /** Sets the total without counting it: its responses belong to another session. */
  replace(total: EntryUsage): void {
    this.#total = total;
  }
}

/** Of all requests of a thread. */
export const MAX_THREAD_TOKENS = 1_000_000_000_000;

/** Reads a usage of Codex, whose `input_tokens` include the cached ones. @returns `null` for another value */
export function readUsage(usage: unknown, max?: number): EntryUsage | null {
  if (!isRecord(usage)) return null;
  const input = readTokenCount(usage["input_tokens"], max);
  const output = readTokenCount(usage["output_tokens"], max);
  const cacheRead = readTokenCount(usage["cached_input_tokens"], max);
  const cacheWrite = readTokenCount(usage["cache_write_input_tokens"], max);
  if (input === null || output === null || cacheRead === null || cacheWrite === null) return null;
  const read = Math.min(cacheRead, input);
  const write = Math.min(cacheWrite, input - read);
  return { input: input - read - write, output, cache_read: read, cache_write: write };
}
