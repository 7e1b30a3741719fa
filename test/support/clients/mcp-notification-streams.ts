import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

export interface OpenStream {
  /** Resolves when the service ends the stream, in any way. */
  ended: Promise<void>;
  /** The methods of the notifications so far. */
  methods: string[];
  close(): Promise<void>;
}

/** Subscribes to changes of the tool list. */
export async function openStream(publicUrl: string, token: string): Promise<OpenStream> {
  let stream: ReadableStream<Uint8Array> | undefined;
  const watchedFetch: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true || response.body === null)
      return response;
    const [copy, original] = response.body.tee();
    stream = copy;
    return new Response(original, response);
  };
  const client = new Client(
    { name: "subscriber", version: "1.0.0" },
    { versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${publicUrl}/mcp`), { requestInit, fetch: watchedFetch }),
  );
  await client.listen({ toolsListChanged: true });
  if (stream === undefined) throw new Error("the subscription opened no stream");
  return { ...readNotifications(stream), close: () => client.close() };
}

/** The POST with which a client of 2026-07-28 subscribes, for tests that read the response in their own way. */
export function subscriptionRequest(token: string): { headers: Record<string, string>; body: string } {
  const method = "subscriptions/listen";
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "subscriber", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return {
    headers: {
      authorization: `Bearer ${token}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method,
      params: { notifications: { toolsListChanged: true }, _meta: meta },
    }),
  };
}

/** A stream of notifications of `GET /mcp`. */
export interface NotificationStream extends OpenStream {
  status: number;
  headers: Headers;
}

/** Opens a stream of notifications as clients of the revisions before 2026-07-28 do. */
export async function openNotificationStream(
  publicUrl: string,
  token: string,
  extraHeaders: Record<string, string> = {},
): Promise<NotificationStream> {
  const closing = new AbortController();
  const headers = { accept: "text/event-stream", authorization: `Bearer ${token}`, ...extraHeaders };
  const { status, headers: received, body } = await fetch(`${publicUrl}/mcp`, { headers, signal: closing.signal });
  if (body === null) throw new Error("the response has no body");
  const { methods, ended } = readNotifications(body);
  const close = async (): Promise<void> => {
    closing.abort();
    await ended;
  };
  return { status, headers: received, methods, ended, close };
}

function readNotifications(stream: ReadableStream<Uint8Array>): Pick<OpenStream, "ended" | "methods"> {
  const methods: string[] = [];
  const ended = readToEnd(stream, (text) => {
    for (const [, method = ""] of text.matchAll(/"method":"([^"]+)"/g)) methods.push(method);
  });
  return { methods, ended };
}

async function readToEnd(stream: ReadableStream<Uint8Array>, onText: (text: string) => void): Promise<void> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onText(Buffer.from(value).toString());
    }
  } catch {
    // A connection that breaks off also ends the stream.
  }
}
