import { once } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import {
  HttpsMetadataFetcher,
  type HttpsMetadataFetcherOptions,
} from "../../../server/drivers/client-metadata/https-metadata-fetcher.ts";
import { createCertificate } from "./certificate.ts";

const DOMAIN = "example.com";

type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

interface Site {
  url(path: string): string;
  /** Publishes a client's metadata document and returns its URL. `members` replaces members of a valid document. */
  publish(path: string, members?: object, headers?: Record<string, string>): string;
  /** Handles requests for a path and returns its URL. */
  handle(path: string, handler: RequestHandler): string;
}

/** A local https server that publishes OAuth clients under public host names. */
export interface ClientPublisher extends Site, AsyncDisposable {
  port: number;
  /** Every request so far. */
  requests: { path: string; headers: IncomingHttpHeaders }[];
  /** The same server under another host name. */
  site(name: string): Site;
  /** Creates a fetcher that resolves every host name to this server. */
  createFetcher(options?: HttpsMetadataFetcherOptions): HttpsMetadataFetcher;
}

/** The redirect URI of a published client, unless its document names another one. */
export const REDIRECT_URI = "http://127.0.0.1:41999/callback";

export async function openClientPublisher(): Promise<ClientPublisher> {
  const handlers = new Map<string, RequestHandler>();
  const requests: ClientPublisher["requests"] = [];
  const certificate = createCertificate(DOMAIN);
  const server = createServer(certificate, (request, response) => {
    const path = request.url ?? "";
    requests.push({ path, headers: request.headers });
    const handler = handlers.get(path);
    if (handler === undefined) response.writeHead(404).end();
    else handler(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const site = (name: string): Site => {
    const url = (path: string) => `https://${name}.${DOMAIN}:${port}${path}`;
    const handle = (path: string, handler: RequestHandler): string => {
      handlers.set(path, handler);
      return url(path);
    };
    const publish: Site["publish"] = (path, members, headers = {}) =>
      handle(path, (_request, response) => {
        const common = { client_id: url(path), client_name: "A published client", redirect_uris: [REDIRECT_URI] };
        response.writeHead(200, { "content-type": "application/json", ...headers });
        response.end(JSON.stringify({ ...common, ...members }));
      });
    return { url, handle, publish };
  };
  return {
    port,
    requests,
    site,
    ...site("client"),
    createFetcher: (options) =>
      new HttpsMetadataFetcher({
        lookup: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]),
        isAllowedAddress: (address) => address === "127.0.0.1",
        trustedCertificates: certificate.cert,
        ...options,
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
