import { LRUCache } from "lru-cache";
import { isRecord } from "../../../shared/json.ts";
import type { EntryUsage } from "../../transcript-entry.ts";
import { readId } from "../entry-builder.ts";
import { combineUsage, isNoUsage, NO_USAGE, readTokenCount, subtractUsage } from "../token-counts.ts";

/** The records of a request are close to each other, so those of older requests are not expected. */
const MAX_REQUESTS = 20_000;

/**
 * Counts the usage of each request once. Claude Code writes a record for each block of a response, and repeats the usage of
 * the whole request in each of them. While the response is streamed, the first records may have lower numbers than the last.
 */
export class RequestUsage {
  // With `max` instead of `maxSize`, lru-cache allocates all slots at once, for each transcript.
  readonly #counted = new LRUCache<string, EntryUsage>({ maxSize: MAX_REQUESTS, sizeCalculation: () => 1 });

  /** Returns what `usage` adds to the earlier records of the request; `undefined` if nothing. */
  count(request: string, usage: EntryUsage): EntryUsage | undefined {
    const before = this.#counted.get(request) ?? NO_USAGE;
    const added = subtractUsage(usage, before);
    if (isNoUsage(added)) return undefined;
    this.#counted.set(request, combineUsage(usage, before, Math.max));
    return added;
  }
}

/** Names the request of a response. The id of the message alone is not unique with every proxy. */
export function requestKey(value: Record<string, unknown>, message: Record<string, unknown>, id: string): string {
  const messageId = readId(message["id"]);
  const requestId = readId(value["requestId"]);
  return messageId === undefined && requestId === undefined ? id : JSON.stringify([messageId, requestId]);
}

/** Whether a record is a copy from another session, which a fork repeats: its request was made and counted there. */
export function isCopy({ requestSessionId, forkedFrom, sessionId }: Record<string, unknown>): boolean {
  const origin = requestSessionId ?? (isRecord(forkedFrom) ? forkedFrom["sessionId"] : undefined);
  return origin !== undefined && origin !== sessionId;
}

/** Reads a usage of the Anthropic Messages API. @returns `null` when a value is not a number of tokens */
export function readUsage(usage: unknown): EntryUsage | null {
  if (!isRecord(usage)) return NO_USAGE;
  const input = readTokenCount(usage["input_tokens"]);
  const output = readTokenCount(usage["output_tokens"]);
  const cacheRead = readTokenCount(usage["cache_read_input_tokens"]);
  const cacheWrite = readTokenCount(usage["cache_creation_input_tokens"]);
  if (input === null || output === null || cacheRead === null || cacheWrite === null) return null;
  return { input, output, cache_read: cacheRead, cache_write: cacheWrite };
}
