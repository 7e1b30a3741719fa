/** One server-sent event. */
export interface ReceivedEvent {
  id: string;
  event: string;
  data: string;
}

/** A stream of log lines, as a client reads it. */
export interface ReceivedStream {
  status: number;
  headers: Headers;
  /** The events so far. */
  events: ReceivedEvent[];
  /** The data of the lines so far. */
  lines(): string[];
  /** Resolves when the service has ended the stream, in any way. */
  ended: Promise<void>;
  close(): Promise<void>;
}

/** Opens `GET <path>`, such as `/v1/apps/<id>/logs?follow`, with an API key. */
export async function followLog(
  publicUrl: string,
  token: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<ReceivedStream> {
  const closing = new AbortController();
  const authorization = `Bearer ${token}`;
  const response = await fetch(`${publicUrl}${path}`, {
    headers: { authorization, ...headers },
    signal: closing.signal,
  });
  const events: ReceivedEvent[] = [];
  const ended = readEvents(response, events);
  return {
    status: response.status,
    headers: response.headers,
    events,
    lines: () => events.filter(({ event }) => event === "message").map(({ data }) => data),
    ended,
    async close() {
      closing.abort();
      await ended;
    },
  };
}

async function readEvents(response: Response, events: ReceivedEvent[]): Promise<void> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      events.push(...blocks.filter((block) => !block.startsWith(":")).map(parseEvent));
    }
  } catch {
    // A connection that breaks off also ends the stream.
  }
}

function parseEvent(block: string): ReceivedEvent {
  const fields = block.split("\n").map((line) => /^(\w+): ?(.*)$/s.exec(line) ?? []);
  const read = (name: string) => fields.find(([, field]) => field === name)?.[2];
  return { id: read("id") ?? "", event: read("event") ?? "message", data: read("data") ?? "" };
}
