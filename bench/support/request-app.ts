import { once } from "node:events";
import http from "node:http";
import { text } from "node:stream/consumers";

/**
 * Requests `/` of an app over a new connection. The host name is not resolved: `*.localhost` is this machine, which not
 * every resolver knows.
 *
 * @param url - the app's public URL
 * @throws when the status is not 200
 */
export async function requestApp(url: string, signal: AbortSignal): Promise<string> {
  const { port, host } = new URL(url);
  const request = http.get({ host: "127.0.0.1", port, headers: { host }, agent: false, signal });
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  const body = await text(response);
  if (response.statusCode !== 200) throw new Error(`${url} returned ${response.statusCode}: ${body}`);
  return body;
}
