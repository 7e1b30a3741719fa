import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** The redirect endpoint of an OAuth client on this machine. */
export interface RedirectReceiver extends AsyncDisposable {
  url: string;
  /** Waits for the next redirect and returns its query parameters. */
  next(): Promise<URLSearchParams>;
}

export async function openRedirectReceiver(): Promise<RedirectReceiver> {
  let arrived = Promise.withResolvers<URLSearchParams>();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://client");
    response.setHeader("content-type", "text/html").end("<title>Client</title><p>You can close this page.</p>");
    if (pathname === "/callback") arrived.resolve(searchParams);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    async next() {
      const found = await arrived.promise;
      arrived = Promise.withResolvers();
      return found;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
