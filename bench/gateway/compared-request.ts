import type { Load } from "../processes/generate-load.ts";
import { JSON_CONTENT } from "../support/mcp-client.ts";

type Headers = Record<string, string>;

/** One request, as many callers make it. */
export interface Side extends Omit<Load, "connections" | "seconds"> {
  name: string;
  answerLength: number;
}

/**
 * What is asked for under load, and how long the answer to it is.
 *
 * @throws when it is no good answer, not ASCII, or not as long for the first caller as for the last one
 */
export async function lookedAt(side: Omit<Side, "answerLength">, signal: AbortSignal): Promise<Side> {
  const [first, last] = [
    await answerOf(side, side.headers[0], signal),
    await answerOf(side, side.headers.at(-1), signal),
  ];
  if (first.length !== last.length) throw new Error(`${side.name} answers ${first} and ${last}`);
  // Under load an answer is put together from pieces, and a character of several bytes may lie in two of them.
  if (Buffer.byteLength(first) !== first.length) throw new Error(`${side.name} answers with more than ASCII`);
  return { ...side, answerLength: first.length };
}

async function answerOf(
  { name, url, method = "GET", body }: Omit<Side, "answerLength">,
  headers: Headers = {},
  signal: AbortSignal,
): Promise<string> {
  const response = await fetch(url, { method, headers, signal, ...(body !== undefined && { body }) });
  const text = await response.text();
  const isGood = response.ok && !text.includes('"isError":true') && !text.includes('"error":{');
  if (!isGood) throw new Error(`${name} answered ${response.status}: ${text.slice(0, 1000)}`);
  return text;
}

/** The specification's minimal headers of a call. */
export function callers(tokens: readonly string[], more: Headers = JSON_CONTENT): Headers[] {
  return tokens.map((token) => ({ authorization: `Bearer ${token}`, ...more }));
}
