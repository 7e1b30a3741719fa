import { once } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import {
  HttpsMetadataFetcher,
  type HttpsMetadataFetcherOptions,
} from "../../../server/drivers/client-metadata/https-metadata-fetcher.ts";
import { certificateFor } from "./certificate.ts";

const DOMAIN = "example.com";

type Answerer = (request: IncomingMessage, response: ServerResponse) => void;

interface Site {
  url(path: string): string;
  /** Publishes a client's document and returns its URL. What is left out is as it should be. */
  publish(path: string, members?: object, headers?: Record<string, string>): string;
  /** Answers in any other way, and returns the URL. */
  answer(path: string, answerer: Answerer): string;
}

/** The https server of somebody who makes OAuth clients, on this machine, under names of the internet. */
export interface ClientPublisher extends Site, AsyncDisposable {
  port: number;
  /** What was asked for so far. */
  asked: { path: string; headers: IncomingHttpHeaders }[];
  /** The same server under another name. */
  site(name: string): Site;
  /** What reads from this server alone, whatever the name: nothing of the internet is asked. */
  fetcher(options?: HttpsMetadataFetcherOptions): HttpsMetadataFetcher;
}

/** Where a published client has people sent back to, unless its document says otherwise. */
export const REDIRECT = "http://127.0.0.1:41999/callback";

export async function openClientPublisher(): Promise<ClientPublisher> {
  const answerers = new Map<string, Answerer>();
  const asked: ClientPublisher["asked"] = [];
  const certificate = certificateFor(DOMAIN);
  const server = createServer(certificate, (request, response) => {
    const path = request.url ?? "";
    asked.push({ path, headers: request.headers });
    (answerers.get(path) ?? ((_request, missing) => missing.writeHead(404).end()))(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const site = (name: string): Site => {
    const url = (path: string) => `https://${name}.${DOMAIN}:${port}${path}`;
    const answer = (path: string, answerer: Answerer): string => {
      answerers.set(path, answerer);
      return url(path);
    };
    const publish: Site["publish"] = (path, members, headers = {}) =>
      answer(path, (_request, response) => {
        const common = { client_id: url(path), client_name: "A published client", redirect_uris: [REDIRECT] };
        response.writeHead(200, { "content-type": "application/json", ...headers });
        response.end(JSON.stringify({ ...common, ...members }));
      });
    return { url, answer, publish };
  };
  return {
    ...{ port, asked, site },
    ...site("client"),
    fetcher: (options) =>
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
