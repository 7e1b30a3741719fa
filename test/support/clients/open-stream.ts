import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

export interface OpenStream {
  /** Fulfilled when the service ends the stream, however it does. */
  ended: Promise<void>;
  close(): Promise<void>;
}

/** Subscribes to changes of the tools, and tells when that ends. */
export async function openStream(publicUrl: string, token: string): Promise<OpenStream> {
  let stream: ReadableStream<Uint8Array> | undefined;
  const watching: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init);
    if (answer.headers.get("content-type")?.startsWith("text/event-stream") !== true || answer.body === null)
      return answer;
    const [mine, theirs] = answer.body.tee();
    stream = mine;
    return new Response(theirs, answer);
  };
  const client = new Client(
    { name: "subscriber", version: "1.0.0" },
    { versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${publicUrl}/mcp`), { requestInit, fetch: watching }),
  );
  await client.listen({ toolsListChanged: true });
  if (stream === undefined) throw new Error("the subscription opened no stream");
  return { ended: readToTheEnd(stream), close: () => client.close() };
}

async function readToTheEnd(stream: ReadableStream<Uint8Array>): Promise<void> {
  const reader = stream.getReader();
  try {
    while (!(await reader.read()).done);
  } catch {
    // Cut off is an end too.
  }
}
