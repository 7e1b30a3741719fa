import { once } from "node:events";
import { chmod, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import path from "node:path";
import type { Duplex, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type SecureContext, TLSSocket } from "node:tls";
import type { PackageReport, PackageSession, RefusedRequest } from "../../ports/package-registry.ts";
import { createSocketFolder } from "../../sandbox/socket-folder.ts";
import { MIRROR_HOST, MIRROR_URL, type MirrorRequest, parseMirrorRequest } from "./parse-mirror-request.ts";
import type { Packument } from "./packument.ts";
import { NotInRegistry } from "./registry-client.ts";
import { type RemoteAccess, isTooLarge } from "./remote-access.ts";

/** Every connection takes a file descriptor of the service, and untrusted code in an install can open any number. */
const MAX_CONNECTIONS = 256;

/** Install scripts can request any number of hosts and packages, and each one is held in memory. */
const MAX_REFUSED = 100;

/** Reads packages by their names. */
export interface PackageClient {
  /** @throws {NotInRegistry} */
  getPackument(name: string): Promise<Packument>;
  /** @throws {NotInRegistry} */
  fetchTarball(name: string, version: string): Promise<{ body: Readable; hasInstallScript: boolean }>;
}

/** What the client of a session may request. */
export interface MirrorAdmission {
  /** The limit that the client has exceeded, if any. */
  readonly exceeded: "otherPackages" | "bytes" | null;
  /** Whether a package may be requested; `version` is `null` for its metadata. */
  admits(name: string, version: string | null): boolean;
  /** Tells the names of the packages on which a requested package depends. */
  addDependencies(names: ReadonlySet<string>): void;
  /** Returns whether the client may receive these bytes too. */
  receive(bytes: number): boolean;
}

/** Serves the mirror to one install, on a unix socket of its own. */
export async function openMirrorSession(
  client: PackageClient,
  admission: MirrorAdmission,
  remote: RemoteAccess | null,
): Promise<PackageSession> {
  const folder = await createSocketFolder("packages");
  const socketPath = path.join(folder.path, "socket");
  const certificateFile = remote === null ? null : path.join(folder.path, "certificate.pem");
  if (certificateFile !== null && remote !== null)
    await writeFile(certificateFile, remote.certificate, { mode: 0o644 });
  const server = new MirrorServer(client, admission, remote);
  await server.listen(socketPath);
  // The sandbox mounts only the socket, and connects to it as another user. The folder itself stays private.
  await chmod(socketPath, 0o666);
  return {
    socketPath,
    registryUrl: MIRROR_URL,
    certificateFile,
    report: () => server.report(),
    refused: () => server.refused,
    served: () => server.served,
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

class QuotaExceeded extends Error {
  override readonly name = "QuotaExceeded";
}

class MirrorServer {
  readonly #http: Server;
  readonly #client: PackageClient;
  readonly #remote: RemoteAccess | null;
  /** The host of each connection that a client opened to a host outside of the registry, which ends here. */
  readonly #remoteHosts = new WeakMap<Duplex, string>();
  readonly #failedUrls = new Map<string, string>();
  readonly #admission: MirrorAdmission;
  readonly #unavailable = new Set<string>();
  readonly #missing: { name: string; version: string | null }[] = [];
  readonly #blockedHosts = new Set<string>();
  readonly refused: RefusedRequest[] = [];
  readonly served = { packages: new Set<string>(), withScripts: new Set<string>() };
  #script: string | null = null;

  constructor(client: PackageClient, admission: MirrorAdmission, remote: RemoteAccess | null) {
    this.#client = client;
    this.#remote = remote;
    this.#admission = admission;
    this.#http = createServer((request, response) => void this.#handle(request, response));
    this.#http.maxConnections = MAX_CONNECTIONS;
    // An idle connection stays open until the install ends. A busy machine can keep a package manager from running for
    // seconds; its next request on a connection that was closed meanwhile would fail, and the install with it.
    this.#http.keepAliveTimeout = 0;
    this.#http.on("connect", (request, socket, head) => this.#openTunnel(request, socket, head));
  }

  async listen(socketPath: string): Promise<void> {
    this.#http.listen(socketPath);
    await once(this.#http, "listening");
  }

  report(): PackageReport {
    return {
      unavailable: [...this.#unavailable],
      missing: [...this.#missing],
      failedUrls: [...this.#failedUrls].map(([url, reason]) => ({ url, reason })),
      blockedHosts: [...this.#blockedHosts],
      exceeded: this.#admission.exceeded,
    };
  }

  async close(): Promise<void> {
    this.#http.close();
    this.#http.closeAllConnections();
    await once(this.#http, "close");
  }

  async #handle({ method, url = "", socket }: IncomingMessage, response: ServerResponse): Promise<void> {
    if (method !== "GET" && method !== "HEAD")
      return sendError(response, 405, "The package mirror is read-only. It accepts GET and HEAD.");
    const remoteHost = this.#remoteHosts.get(socket);
    if (remoteHost !== undefined && this.#remote !== null)
      return this.#respondRemotely(this.#remote, readTarget(url, remoteHost), method, response);
    const request = parseMirrorRequest(url);
    try {
      await this.#respond(request, response);
    } catch (error) {
      this.#handleFailure(request, error, response);
    }
  }

  async #respond(request: MirrorRequest, response: ServerResponse): Promise<void> {
    if ("name" in request && !this.#admission.admits(request.name, "version" in request ? request.version : null)) {
      this.#recordRefusal(null, request.name);
      return sendError(response, 403, "The install may not request this package.");
    }
    switch (request.kind) {
      case "package": {
        const { body, dependencies } = await this.#client.getPackument(request.name);
        this.#admission.addDependencies(dependencies);
        if (!this.#admission.receive(body.length)) return sendError(response, 403, "The install exceeds its limit.");
        response.writeHead(200, { "content-type": "application/json", "content-length": body.length }).end(body);
        return;
      }
      case "tarball": {
        const { name, version } = request;
        const { body, hasInstallScript } = await this.#client.fetchTarball(name, version);
        this.served.packages.add(`${name}@${version}`);
        if (hasInstallScript) this.served.withScripts.add(`${name}@${version}`);
        response.writeHead(200, { "content-type": "application/octet-stream" });
        return pipeline(body, (chunks) => this.#count(chunks), response);
      }
      case "script":
        this.#script = request.script;
        response.writeHead(204).end();
        return;
      case "other-host":
        this.#recordRefusal(request.host, null);
        return sendError(
          response,
          403,
          `Builds cannot reach ${request.host}. They can reach the package registry only.`,
        );
      case "unknown":
        return sendError(response, 404, "The package mirror serves packages and their tarballs only.");
    }
  }

  /** Responds to a request for a file outside of the registry. */
  async #respondRemotely(
    remote: RemoteAccess,
    url: URL | null,
    method: "GET" | "HEAD",
    response: ServerResponse,
  ): Promise<void> {
    if (url === null || !remote.admits(url)) {
      this.#recordRefusal(url?.host ?? null, null);
      return sendError(response, 403, "The project does not name this URL.");
    }
    try {
      const file = await remote.fetch(url, method);
      if (isTooLarge(file)) throw new QuotaExceeded();
      if (method === "GET" && file.isPackage) this.served.withScripts.add(url.href);
      response.writeHead(200, file.headers);
      await pipeline(file.body, (chunks) => this.#count(chunks), response);
    } catch (error) {
      this.#handleRemoteFailure(remote, url, error, response);
    }
  }

  #handleRemoteFailure(remote: RemoteAccess, url: URL, error: unknown, response: ServerResponse): void {
    const { reason, status } = remote.describe(error);
    if (!isPrematureClose(error) && this.#failedUrls.size < MAX_REFUSED) this.#failedUrls.set(url.href, reason);
    if (response.headersSent) response.destroy();
    else sendError(response, status, reason);
  }

  async *#count(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      if (!this.#admission.receive(chunk.length)) throw new QuotaExceeded();
      yield chunk;
    }
  }

  #handleFailure(request: MirrorRequest, error: unknown, response: ServerResponse): void {
    const isMissing = error instanceof NotInRegistry;
    // A client that closed its connection early, or exceeded its limit, says nothing about the registry.
    if (!isPrematureClose(error) && !(error instanceof QuotaExceeded)) this.#recordFailure(request, isMissing);
    if (response.headersSent) response.destroy();
    else if (isMissing) sendError(response, 404, error.message);
    else sendError(response, 503, "The package registry did not respond.");
  }

  #recordRefusal(host: string | null, packageName: string | null): void {
    if (host !== null && this.#blockedHosts.size < MAX_REFUSED) this.#blockedHosts.add(host);
    if (this.refused.length < MAX_REFUSED) this.refused.push({ script: this.#script, host, packageName });
  }

  #recordFailure(request: MirrorRequest, isMissing: boolean): void {
    const name = "name" in request ? request.name : "";
    const version = "version" in request ? request.version : null;
    if (!isMissing) this.#unavailable.add(name);
    else if (!this.#missing.some((each) => each.name === name && each.version === version))
      this.#missing.push({ name, version });
  }

  /** A tunnel ends here, that of Yarn 2 and later to the registry too: this server handles the requests in it. */
  #openTunnel(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const host = (request.url ?? "").replace(/:443$/, "");
    const context = this.#remote?.contextOf(host) ?? null;
    if (context === null && request.url !== `${MIRROR_HOST}:80`) return this.#rejectTunnel(request, socket);
    socket.unshift(head);
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    this.#http.emit("connection", context === null ? socket : this.#openTls(host, socket, context));
  }

  /** A connection to a host outside of the registry, of which the project names packages, ends here too. */
  #openTls(host: string, socket: Duplex, secureContext: SecureContext): Duplex {
    const secure = new TLSSocket(socket, { isServer: true, secureContext });
    secure.on("error", () => socket.destroy());
    socket.on("error", () => secure.destroy());
    this.#remoteHosts.set(secure, host);
    return secure;
  }

  #rejectTunnel({ url }: IncomingMessage, socket: Duplex): void {
    this.#recordRefusal((url ?? "").replace(/:443$/, ""), null);
    socket.on("error", () => socket.destroy());
    const response = "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    // Node detaches the socket of a CONNECT from the server, which then does not close it.
    socket.end(response, () => socket.destroy());
  }
}

/** The URL of a request in a tunnel. npm can send an absolute URL there, with `http:`. The tunnel decides the host. */
function readTarget(url: string, host: string): URL | null {
  const target = URL.parse(url, `https://${host}`);
  return target === null ? null : URL.parse(`${target.pathname}${target.search}`, `https://${host}`);
}

function isPrematureClose(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ERR_STREAM_PREMATURE_CLOSE";
}

function sendError(response: ServerResponse, status: number, error: string): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ error }));
}
