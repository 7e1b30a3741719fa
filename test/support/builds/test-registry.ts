import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tarball } from "./npm-tarball.ts";

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
  /** The paths that were asked for, in order. */
  requests: string[];
  /** The `authorization` headers that came. */
  credentials: (string | undefined)[];
  /** The hash of a package's only tarball, as a lockfile has it. */
  integrityOf(name: string): string;
  /** Answers everything with this status from now on; `null` ends it. */
  failWith(status: number | null): void;
  /** As if the machine were cut off: connections are refused from now on. */
  goAway(): Promise<void>;
}

/** A package registry that speaks npm's protocol on a port of this machine. */
export async function startRegistry(packages: readonly PublishedPackage[]): Promise<TestRegistry> {
  let failure: number | null = null;
  const requests: string[] = [];
  const credentials: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    credentials.push(request.headers.authorization);
    if (failure === null) answer(request, response, packages, url);
    else response.writeHead(failure).end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const goAway = async () => {
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
    goAway,
    [Symbol.asyncDispose]: goAway,
  };
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  packages: readonly PublishedPackage[],
  url: string,
): void {
  const path = decodeURIComponent(request.url ?? "");
  const file = packages.find((each) => path === `/${pathOf(each)}`);
  if (file) return void response.end(tarballOf(file));
  const versions = packages.filter(({ name }) => path === `/${name}`);
  if (versions.length === 0) return void response.writeHead(404, { "content-type": "application/json" }).end("{}");
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(packument(versions, url)));
}

function packument(versions: readonly PublishedPackage[], url: string): object {
  return {
    name: versions[0]?.name,
    readme: "Not for installs.",
    "dist-tags": { latest: versions.at(-1)?.version },
    versions: Object.fromEntries(
      versions.map((each) => [each.version, { ...manifestOf(each), dist: distOf(each, url) }]),
    ),
  };
}

function distOf(published: PublishedPackage, url: string): object {
  return { tarball: `${url}${pathOf(published)}`, integrity: integrity(tarballOf(published)) };
}

function integrity(content: Buffer): string {
  return `sha512-${createHash("sha512").update(content).digest("base64")}`;
}

/** Not where npm's own registry would have it, so that a client that guesses is found out. */
function pathOf({ name, version }: PublishedPackage): string {
  return `files/${name}/${version}/content.tgz`;
}

function manifestOf({ name, version, manifest }: PublishedPackage): object {
  return { name, version, main: "index.js", ...manifest };
}

function tarballOf(published: PublishedPackage): Buffer {
  return tarball({ "package.json": JSON.stringify(manifestOf(published)), ...published.files });
}
