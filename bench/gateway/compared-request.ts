import type { Load } from "../processes/generate-load.ts";
import { JSON_CONTENT } from "../support/mcp-client.ts";

type Headers = Record<string, string>;

/** A request of a comparison, with the headers of many callers. */
export interface ComparedRequest extends Omit<Load, "connections" | "seconds"> {
  name: string;
  responseLength: number;
}

/**
 * Sends the request once as the first caller and once as the last, and adds the length of the responses.
 *
 * @throws when a response is an error or not ASCII, or when the two have different lengths
 */
export async function probeRequest(
  request: Omit<ComparedRequest, "responseLength">,
  signal: AbortSignal,
): Promise<ComparedRequest> {
  const first = await fetchText(request, request.headers[0], signal);
  const last = await fetchText(request, request.headers.at(-1), signal);
  if (first.length !== last.length) throw new Error(`${request.name} has different responses: ${first} and ${last}`);
  // The load generator counts characters per chunk, and a multi-byte character can be split over two chunks.
  if (Buffer.byteLength(first) !== first.length) throw new Error(`The response of ${request.name} is not ASCII.`);
  return { ...request, responseLength: first.length };
}

async function fetchText(
  { name, url, method = "GET", body }: Omit<ComparedRequest, "responseLength">,
  headers: Headers = {},
  signal: AbortSignal,
): Promise<string> {
  const response = await fetch(url, { method, headers, signal, ...(body !== undefined && { body }) });
  const text = await response.text();
  const succeeded = response.ok && !text.includes('"isError":true') && !text.includes('"error":{');
  if (!succeeded) throw new Error(`${name} returned ${response.status}: ${text.slice(0, 1000)}`);
  return text;
}

/** Returns the headers of one request for each token: the minimum that the specification requires. */
export function headersByToken(tokens: readonly string[], more: Headers = JSON_CONTENT): Headers[] {
  return tokens.map((token) => ({ authorization: `Bearer ${token}`, ...more }));
}
