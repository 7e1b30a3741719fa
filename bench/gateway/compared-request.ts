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
 * @throws when a response is an error, or when the two have different lengths
 */
export async function probeRequest(
  request: Omit<ComparedRequest, "responseLength">,
  signal: AbortSignal,
): Promise<ComparedRequest> {
  const first = await fetchText(request, request.headers[0], signal);
  const last = await fetchText(request, request.headers.at(-1), signal);
  if (first.length !== last.length) throw new Error(`${request.name} has different responses: ${first} and ${last}`);
  return { ...request, responseLength: first.length };
}

async function fetchText(
  { name, url, method = "GET", body }: Omit<ComparedRequest, "responseLength">,
  headers: Headers = {},
  signal: AbortSignal,
): Promise<string> {
  const response = await fetch(url, { method, headers, signal, ...(body !== undefined && { body }) });
  const text = await response.text();
  // A response can be a stream of one event.
  const json = /^data: (.+)$/m.exec(text)?.[1] ?? text;
  const { error, result } = JSON.parse(json) as { error?: unknown; result?: { isError?: boolean } };
  const succeeded = response.ok && error === undefined && result?.isError !== true;
  if (!succeeded) throw new Error(`${name} returned ${response.status}: ${text.slice(0, 1000)}`);
  return text;
}

/** Returns the headers of one request for each token: the minimum that the specification requires. */
export function headersByToken(tokens: readonly string[], more: Headers = JSON_CONTENT): Headers[] {
  return tokens.map((token) => ({ authorization: `Bearer ${token}`, ...more }));
}
