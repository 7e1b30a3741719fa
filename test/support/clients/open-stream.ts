import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

export interface OpenStream {
  /** Resolves when the service ends the stream, in any way. */
  ended: Promise<void>;
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
  return { ended: readToEnd(stream), close: () => client.close() };
}

async function readToEnd(stream: ReadableStream<Uint8Array>): Promise<void> {
  const reader = stream.getReader();
  try {
    while (!(await reader.read()).done);
  } catch {
    // A connection that breaks off also ends the stream.
  }
}
