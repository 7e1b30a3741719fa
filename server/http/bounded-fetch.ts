/**
 * Creates a `fetch` for an endpoint that an operator has configured. It follows no redirect, because the request has a key, and reads no
 * body beyond a bound.
 *
 * @param maxBytes - the maximum size of the body of a response, in bytes
 */
export function createBoundedFetch(maxBytes: number): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: "error" });
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(limitBytes(maxBytes)), { status, statusText, headers });
  };
}

function limitBytes(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > maxBytes) controller.error(new Error(`the response exceeds ${maxBytes} bytes`));
      else controller.enqueue(chunk);
    },
  });
}
