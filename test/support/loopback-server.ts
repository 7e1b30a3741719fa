import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** An HTTP server on a free port of loopback. */
export interface LoopbackServer extends AsyncDisposable {
  url: string;
}

export async function startLoopbackServer(respond: RequestListener): Promise<LoopbackServer> {
  const server = createServer(respond).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export interface ReceivedRequest {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingMessage["headers"];
  body: string;
}

/** Records requests with their bodies before `respond` handles them. */
export function recordRequests(respond: RequestListener): { record: RequestListener; requests: ReceivedRequest[] } {
  const requests: ReceivedRequest[] = [];
  const record: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method, url, headers } = request;
      requests.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      respond(request, response);
    });
  };
  return { record, requests };
}
