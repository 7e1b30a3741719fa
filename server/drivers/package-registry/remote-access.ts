import type { OutgoingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { createSecureContext, type SecureContext } from "node:tls";
import { createSelfSignedCertificate } from "../../http/self-signed-certificate.ts";
import { RemoteFailure, type RemoteFetcher } from "../../sandbox/remote-fetcher.ts";

/** What may be fetched outside of the registry. */
interface RemoteSources {
  /** `host` or `host:port`. */
  readonly hosts: ReadonlySet<string>;
  admits(url: URL): boolean;
}

const ENGINES_HOST = "binaries.prisma.sh";
export const ENGINES_URL = `https://${ENGINES_HOST}/`;

/** The native programs of Prisma, which its packages download: no npm package contains them. */
export const PRISMA_ENGINES: RemoteSources = {
  hosts: new Set([ENGINES_HOST]),
  admits: ({ host }) => host === ENGINES_HOST,
};

/** A file outside of the registry. */
export interface RemoteFile {
  body: Readable;
  headers: OutgoingHttpHeaders;
  bytes: number | null;
  /** Whether it can contain a package; the list of references of a git repository does not. */
  isPackage: boolean;
}

/** The largest package outside of the registry, in bytes. */
const MAX_BYTES = 256 * 1024 * 1024;

/** Package managers request these of GitHub and npm, and Prisma the last one. */
const FORWARDED = ["content-type", "content-length", "etag", "last-modified"];

/**
 * What one install may fetch outside of the registry. Package managers use https for it, so the mirror has a certificate of
 * its own for the hosts that it may reach. Only the sandbox of the install trusts it, and its key stays here.
 */
export class RemoteAccess {
  readonly certificate: string;
  readonly #context: SecureContext;
  readonly #sources: RemoteSources;
  readonly #fetcher: RemoteFetcher;

  constructor(sources: RemoteSources, fetcher: RemoteFetcher) {
    const names = [...sources.hosts].map((host) => host.replace(/:\d+$/, ""));
    const { cert, key } = createSelfSignedCertificate([...new Set(names)]);
    this.certificate = cert;
    this.#context = createSecureContext({ cert, key });
    this.#sources = sources;
    this.#fetcher = fetcher;
  }

  /** What a connection to a host is encrypted with; `null` if nothing may be fetched from the host. */
  contextOf(host: string): SecureContext | null {
    return this.#sources.hosts.has(host.toLowerCase()) ? this.#context : null;
  }

  admits(url: URL): boolean {
    return this.#sources.admits(url);
  }

  /** @throws {RemoteFailure} */
  async fetch(url: URL, method: "GET" | "HEAD"): Promise<RemoteFile> {
    const body = await this.#fetcher.fetch(url, { method });
    const headers = Object.fromEntries(
      FORWARDED.flatMap((name) => (body.headers[name] ? [[name, body.headers[name]]] : [])),
    );
    const length = Number(body.headers["content-length"] ?? Number.NaN);
    const isPackage = !/git-upload-pack/.test(body.headers["content-type"] ?? "");
    return { body, headers, bytes: Number.isNaN(length) ? null : length, isPackage };
  }

  /** Says why a file could not be fetched, and the status that a package manager gets. */
  describe(error: unknown): { reason: string; status: number } {
    if (error instanceof RemoteFailure) return { reason: error.message, status: error.status === 404 ? 404 : 502 };
    return { reason: "it is too large, or its host ended the connection", status: 502 };
  }
}

export function isTooLarge({ bytes }: RemoteFile): boolean {
  return bytes !== null && bytes > MAX_BYTES;
}
