/**
 * Creates a `fetch` for an endpoint that an operator has configured. It follows no redirect, because the request has a key, and reads no
 * body beyond a bound.
 *
 * @param maxBytes - the maximum size of the body of a response, in bytes
 * @param timeoutMs - the time for one request and its whole response, in milliseconds; without it, only the caller limits the time
 */
export function createBoundedFetch(maxBytes: number, timeoutMs?: number): typeof fetch {
  return async (input, init) => {
    const signals = [init?.signal, timeoutMs === undefined ? null : AbortSignal.timeout(timeoutMs)];
    const signal = AbortSignal.any(signals.filter((it) => it !== null && it !== undefined));
    const response = await fetch(input, { ...init, signal, redirect: "error" });
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
