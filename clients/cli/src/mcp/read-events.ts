import { createParser } from "eventsource-parser";

/**
 * Yields the data of the messages in a stream of server-sent events, until the stream ends.
 *
 * @param maxSilenceMs - ends a stream on which nothing has arrived for so many milliseconds
 * @throws when the connection breaks off
 */
export async function* readMessages(
  body: ReadableStream<Uint8Array>,
  maxSilenceMs: number,
): AsyncGenerator<string, void, undefined> {
  const messages: string[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => {
      if (event === undefined || event === "message") messages.push(data);
    },
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const timer = setTimeout(() => void reader.cancel().catch(() => undefined), maxSilenceMs);
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* messages.splice(0);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
