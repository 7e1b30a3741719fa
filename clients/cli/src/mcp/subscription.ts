import { delay } from "../../../sdk/src/retries.ts";
import { readMessages } from "./read-events.ts";

const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 60_000;
/** The gateway sends a comment every 25 seconds. In milliseconds. */
const MAX_SILENCE_MS = 90_000;

type Stream = ReadableStream<Uint8Array>;

export interface Subscription {
  /** Opens the stream; `null` when the gateway has none. */
  open(signal: AbortSignal): Promise<Stream | null>;
  /** A stream that is open already, with which the subscription starts. */
  first?: Stream;
  onMessage(text: string): Promise<void>;
  /** Called when the stream is open again, because notifications may have been missed. */
  onReopened(): Promise<void>;
  log(message: string): void;
  signal: AbortSignal;
}

/**
 * Follows a stream of notifications, and opens it again with a growing delay whenever it ends, until the signal aborts or
 * the gateway has no such stream.
 */
export async function follow(subscription: Subscription): Promise<void> {
  const { first, signal, log } = subscription;
  let stream = first ?? null;
  let wasOpen = first !== undefined;
  let hasFailed = false;
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    try {
      if (stream === null) {
        stream = await subscription.open(signal);
        if (stream === null) return;
        if (wasOpen) await subscription.onReopened();
        if (hasFailed) log("Notifications arrive again.");
      }
      wasOpen = true;
      hasFailed = false;
      const openedAt = Date.now();
      for await (const text of readMessages(stream, MAX_SILENCE_MS)) await subscription.onMessage(text);
      if (Date.now() - openedAt > MAX_DELAY_MS) attempt = 0;
    } catch (error) {
      if (signal.aborted) return;
      if (stream === null && !hasFailed) log(`Notifications do not arrive: ${(error as Error).message}`);
      hasFailed ||= stream === null;
    }
    stream = null;
    await delay(nextDelay(attempt), signal).catch(() => undefined);
  }
}

function nextDelay(attempt: number): number {
  return Math.min(FIRST_DELAY_MS * 2 ** attempt, MAX_DELAY_MS) * (0.5 + Math.random() / 2);
}
