import { once } from "node:events";
import type { IncomingHttpHeaders } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { HttpsFiles } from "../../../server/drivers/public-files/https-files.ts";
import { createCertificate } from "../identity/certificate.ts";

const DOMAIN = "example.com";

/** What the site responds with at a path. */
export interface Page {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

/** An https server on loopback that stands for a site of the public web. */
export interface PublicSite extends AsyncDisposable {
  /** By path. Tests change it while the site runs; a path without a page gets 404. */
  pages: Map<string, Page>;
  requests: { path: string; headers: IncomingHttpHeaders }[];
  /** Reads files of the site. The host name `private.example.com` has a private address. */
  files: HttpsFiles;
  url(path: string): string;
  /** Sets an HTML page with a validator, to which conditional requests get 304. */
  publish(path: string, html: string): string;
}

export async function startPublicSite(): Promise<PublicSite> {
  const pages: PublicSite["pages"] = new Map();
  const requests: PublicSite["requests"] = [];
  const certificate = createCertificate(DOMAIN);
  const server = createServer(certificate, ({ url: path = "", headers }, response) => {
    requests.push({ path, headers });
    const { status = 200, headers: sent = {}, body = "" } = pages.get(path) ?? { status: 404 };
    const isKnown = sent["etag"] !== undefined && headers["if-none-match"] === sent["etag"];
    response.writeHead(isKnown ? 304 : status, sent).end(isKnown ? undefined : body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const url = (path: string): string => `https://www.${DOMAIN}${path}`;
  return {
    pages,
    requests,
    url,
    publish(path, html) {
      const headers = {
        "content-type": "text/html; charset=utf-8",
        etag: `"${Buffer.from(html).toString("base64url")}"`,
      };
      pages.set(path, { headers, body: html });
      return url(path);
    },
    files: new HttpsFiles({
      defaultPort: port,
      trustedCertificates: certificate.cert,
      lookup: (host) => {
        const address = host.startsWith("private.") ? "10.1.2.3" : "127.0.0.1";
        return Promise.resolve([{ address, family: 4 }]);
      },
      isAllowedAddress: (address) => address === "127.0.0.1",
    }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
