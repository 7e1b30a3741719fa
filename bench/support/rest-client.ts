import { JSON_CONTENT } from "./mcp-client.ts";

export interface RestClient {
  url: string;
  token: string;
  signal: AbortSignal;
}

/**
 * Sends a request, as POST if it has a body, and returns the body of the response.
 *
 * @throws when the status is not 2xx
 */
export async function callRest<T>({ url, token, signal }: RestClient, path: string, body?: object): Promise<T> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${url}${path}`, {
    signal,
    ...(body === undefined
      ? { headers }
      : { method: "POST", headers: { ...headers, ...JSON_CONTENT }, body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} returned ${response.status}: ${text.slice(0, 1000)}`);
  return JSON.parse(text) as T;
}
