import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";

export interface PublishedPackage {
  name: string;
  version: string;
  files?: Record<string, string>;
  /** Further fields of its package.json. */
  manifest?: Record<string, unknown>;
}

export interface TestRegistry extends AsyncDisposable {
  /** Ends with a slash. */
  url: string;
  /** The paths of all requests, in order. */
  requests: string[];
  /** The `authorization` headers of all requests, in order. */
  credentials: (string | undefined)[];
  /** The hash of a package's only tarball, in the form of a lockfile. */
  integrityOf(name: string): string;
  /** Responds to every request with this status from now on; `null` restores normal responses. */
  failWith(status: number | null): void;
  /** Stops the server: connections are refused from now on. */
  stop(): Promise<void>;
}

/** Starts a package registry that speaks npm's protocol on a local port. */
export async function startRegistry(packages: readonly PublishedPackage[]): Promise<TestRegistry> {
  let failure: number | null = null;
  const requests: string[] = [];
  const credentials: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    credentials.push(request.headers.authorization);
    if (failure === null) respond(request, response, packages, url);
    else response.writeHead(failure).end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const stop = async () => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  };
  const integrityOf = (name: string) => integrity(tarballOf(packages.find((each) => each.name === name)!));
  return {
    url,
    requests,
    credentials,
    integrityOf,
    failWith: (status) => void (failure = status),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function respond(
  request: IncomingMessage,
  response: ServerResponse,
  packages: readonly PublishedPackage[],
  url: string,
): void {
  const path = decodeURIComponent(request.url ?? "");
  const published = packages.find((each) => path === `/${tarballPath(each)}`);
  if (published) return void response.end(tarballOf(published));
  const versions = packages.filter(({ name }) => path === `/${name}`);
  if (versions.length === 0) return void response.writeHead(404, { "content-type": "application/json" }).end("{}");
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(packument(versions, url)));
}

function packument(versions: readonly PublishedPackage[], url: string): object {
  return {
    name: versions[0]?.name,
    readme: "An install does not need this text.",
    "dist-tags": { latest: versions.at(-1)?.version },
    versions: Object.fromEntries(
      versions.map((each) => [each.version, { ...manifestOf(each), dist: distOf(each, url) }]),
    ),
  };
}

function distOf(published: PublishedPackage, url: string): object {
  return { tarball: `${url}${tarballPath(published)}`, integrity: integrity(tarballOf(published)) };
}

function integrity(content: Buffer): string {
  return `sha512-${createHash("sha512").update(content).digest("base64")}`;
}

/** A path that npm's own registry does not use, so that a client that guesses the path gets a 404. */
function tarballPath({ name, version }: PublishedPackage): string {
  return `files/${name}/${version}/content.tgz`;
}

function manifestOf({ name, version, manifest }: PublishedPackage): object {
  return { name, version, main: "index.js", ...manifest };
}

function tarballOf(published: PublishedPackage): Buffer {
  return createTarball({ "package.json": JSON.stringify(manifestOf(published)), ...published.files });
}

const BLOCK = 512;

/** Creates a gzipped tar file like `npm pack`, with every file in one folder. Equal files give equal bytes. */
export function createTarball(files: Readonly<Record<string, string>>, folder = "package"): Buffer {
  const entries = Object.entries(files).flatMap(([name, text]) => {
    const content = Buffer.from(text);
    return [
      header(`${folder}/${name}`, content.length),
      content,
      Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK),
    ];
  });
  return gzipSync(Buffer.concat([...entries, Buffer.alloc(2 * BLOCK)]));
}

/** The ustar header (POSIX.1-1988) of a regular file. */
function header(name: string, size: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  block.write(name, 0);
  block.write("0000644\0", 100);
  block.write(`${size.toString(8).padStart(11, "0")}\0`, 124);
  block.write("00000000000\0", 136);
  block.write("        0", 148);
  block.write("ustar\x0000", 257);
  const checksum = block.reduce((sum, byte) => sum + byte, 0);
  block.write(`${checksum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}
