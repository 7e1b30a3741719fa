import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { RemoteFetcherOptions } from "../../../server/sandbox/remote-fetcher.ts";
import { createSelfSignedCertificate } from "../../../server/http/self-signed-certificate.ts";

/** What a host responds with at a path: a body, another URL, or a status. */
export type HostResponse = Buffer | { location: string } | { status: number };

export interface PublicHosts extends AsyncDisposable {
  /** How a package mirror reaches the hosts. */
  remote: RemoteFetcherOptions;
  requests: { url: string; authorization: string | undefined }[];
}

const NAMES = ["github.com", "*.github.com", "raw.githubusercontent.com", "*.example", "binaries.prisma.sh"];

/**
 * Starts a server on loopback that stands for hosts of the internet. A request without a response in `responses`, or for a
 * URL that requires another token, gets 404 or 401.
 *
 * @param responses - by URL without `https://`
 * @param tokens - the tokens that hosts require
 */
export async function startPublicHosts(
  responses: Readonly<Record<string, HostResponse>>,
  tokens: Readonly<Record<string, string>> = {},
): Promise<PublicHosts> {
  const { cert, key } = createSelfSignedCertificate([...NAMES, "files.example", "npm.acme.example", "evil.example"]);
  const requests: PublicHosts["requests"] = [];
  const server = createServer({ cert, key }, ({ url = "", headers, method }, response) => {
    const host = headers.host?.replace(/:\d+$/, "") ?? "";
    requests.push({ url: `${host}${url}`, authorization: headers.authorization });
    const token = tokens[host];
    if (token !== undefined && headers.authorization !== `Bearer ${token}`) return void response.writeHead(401).end();
    const found = responses[`${host}${decodeURIComponent(url)}`] ?? { status: 404 };
    if (Buffer.isBuffer(found)) {
      const type = url.includes("git-upload-pack") ? "application/x-git-upload-pack-advertisement" : "application/gzip";
      response.writeHead(200, { "content-type": type, "content-length": found.length });
      return void response.end(method === "HEAD" ? undefined : found);
    }
    if ("location" in found) return void response.writeHead(302, { location: found.location }).end();
    response.writeHead(found.status).end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    requests,
    remote: {
      defaultPort: (server.address() as AddressInfo).port,
      trustedCertificates: cert,
      lookup: (host) =>
        Promise.resolve([{ address: host === "private.example" ? "10.1.2.3" : "127.0.0.1", family: 4 }]),
      isAllowedAddress: (address) => address === "127.0.0.1",
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** The list of references of a repository with the branch `main`, as a git server sends it for a fetch. */
export function gitReferences(commit: string): Buffer {
  const line = (text: string) => `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, "0")}${text}`;
  const capabilities = "multi_ack symref=HEAD:refs/heads/main agent=git/2";
  const lines = [`${commit} HEAD\0${capabilities}\n`, `${commit} refs/heads/main\n`].map(line);
  return Buffer.from(`${line("# service=git-upload-pack\n")}0000${lines.join("")}0000`);
}
