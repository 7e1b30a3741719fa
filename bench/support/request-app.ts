import { once } from "node:events";
import http from "node:http";
import { text } from "node:stream/consumers";

/**
 * Asks an app for `/` over a new connection, as its first clientInfo would. The name is not resolved: `*.localhost` is
 * this machine, which not every resolver knows.
 *
 * @param url - the app's public address
 * @throws when the answer is not a good one
 */
export async function visit(url: string, signal: AbortSignal): Promise<string> {
  const { port, host } = new URL(url);
  const request = http.get({ host: "127.0.0.1", port, headers: { host }, agent: false, signal });
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  const body = await text(response);
  if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}: ${body}`);
  return body;
}

/** How long `work` takes, in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
