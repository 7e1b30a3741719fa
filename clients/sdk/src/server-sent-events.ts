import { ServiceError } from "./service-error.ts";
import { delay } from "./retries.ts";
import type { Transport } from "./transport.ts";

export interface ServerSentEvent {
  id: string;
  /** `message` for an event without a name. */
  name: string;
  data: string;
}

/** The service sends at least a comment every 15 seconds. In milliseconds. */
const MAX_SILENCE_MS = 60_000;
const RECONNECT_MS = 1_000;

/**
 * Yields the events of a stream up to the event `end`. Continues after the last event when the connection breaks off.
 *
 * @throws {ServiceError} when the service rejects the stream, or cannot be reached again
 */
export async function* followEvents(
  transport: Transport,
  path: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  let lastEventId: string | null = null;
  for (;;) {
    const connection = new AbortController();
    const either = signal === undefined ? connection.signal : AbortSignal.any([signal, connection.signal]);
    try {
      const body = await transport.openStream(path, lastEventId, either);
      if (body === null) return;
      for await (const event of readEvents(body, () => connection.abort())) {
        yield event;
        if (event.name === "end") return;
        lastEventId = event.id;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof ServiceError) throw error;
    } finally {
      connection.abort();
    }
    await delay(RECONNECT_MS, signal);
  }
}

/** @param onSilence - called when nothing has arrived for a minute */
async function* readEvents(
  body: ReadableStream<Uint8Array>,
  onSilence: () => void,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = "";
  try {
    for (;;) {
      const timer = setTimeout(onSilence, MAX_SILENCE_MS);
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) if (!block.startsWith(":")) yield parseEvent(block);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function parseEvent(block: string): ServerSentEvent {
  const event = { id: "", name: "message", data: "" };
  for (const line of block.split("\n")) {
    const [, field, value = ""] = /^(\w+): ?(.*)$/s.exec(line) ?? [];
    if (field === "id") event.id = value;
    else if (field === "event") event.name = value;
    else if (field === "data") event.data = value;
  }
  return event;
}
