/**
 * Reads the body of a request or a response into memory, and closes the stream when it exceeds the bound.
 *
 * @returns `null` when it has more than `maxBytes`
 */
export async function readBody(body: AsyncIterable<unknown>, maxBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop closes the stream.
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
