import { once } from "node:events";
import { chmod } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import path from "node:path";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { PackageReport, PackageSession } from "../../ports/package-registry.ts";
import { createSocketFolder } from "../../sandbox/socket-folder.ts";
import type { InstallQuota } from "./install-quota.ts";
import { MIRROR_HOST, MIRROR_URL, type MirrorRequest, parseMirrorRequest } from "./parse-mirror-request.ts";
import { NotInRegistry, type RegistryClient } from "./registry-client.ts";

/** Every connection takes a file descriptor of the service, and untrusted code in an install can open any number. */
const MAX_CONNECTIONS = 256;

/** Serves the mirror to one install, on a unix socket of its own. */
export async function openMirrorSession(client: RegistryClient, quota: InstallQuota): Promise<PackageSession> {
  const folder = await createSocketFolder("packages");
  const socketPath = path.join(folder.path, "socket");
  const server = new MirrorServer(client, quota);
  await server.listen(socketPath);
  // The sandbox mounts only the socket, and connects to it as another user. The folder itself stays private.
  await chmod(socketPath, 0o666);
  return {
    socketPath,
    registryUrl: MIRROR_URL,
    report: () => server.report(),
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
  readonly #client: RegistryClient;
  readonly #quota: InstallQuota;
  readonly #unavailable = new Set<string>();
  readonly #missing: { name: string; version: string | null }[] = [];
  readonly #blockedHosts = new Set<string>();

  constructor(client: RegistryClient, quota: InstallQuota) {
    this.#client = client;
    this.#quota = quota;
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
      blockedHosts: [...this.#blockedHosts],
      exceeded: this.#quota.exceeded,
    };
  }

  async close(): Promise<void> {
    this.#http.close();
    this.#http.closeAllConnections();
    await once(this.#http, "close");
  }

  async #handle({ method, url = "" }: IncomingMessage, response: ServerResponse): Promise<void> {
    if (method !== "GET" && method !== "HEAD")
      return sendError(response, 405, "The package mirror is read-only. It accepts GET and HEAD.");
    const request = parseMirrorRequest(url);
    try {
      await this.#respond(request, response);
    } catch (error) {
      this.#handleFailure(request, error, response);
    }
  }

  async #respond(request: MirrorRequest, response: ServerResponse): Promise<void> {
    if ("name" in request && !this.#quota.admits(request.name))
      return sendError(response, 403, "The install exceeds its limit.");
    switch (request.kind) {
      case "package": {
        const { body, dependencies } = await this.#client.getPackument(request.name);
        this.#quota.addDependencies(dependencies);
        if (!this.#quota.receive(body.length)) return sendError(response, 403, "The install exceeds its limit.");
        response.writeHead(200, { "content-type": "application/json", "content-length": body.length }).end(body);
        return;
      }
      case "tarball": {
        const tarball = await this.#client.fetchTarball(request.name, request.version);
        response.writeHead(200, { "content-type": "application/octet-stream" });
        return pipeline(tarball, (chunks) => this.#count(chunks), response);
      }
      case "other-host":
        this.#blockedHosts.add(request.host);
        return sendError(
          response,
          403,
          `Builds cannot reach ${request.host}. They can reach the package registry only.`,
        );
      case "unknown":
        return sendError(response, 404, "The package mirror serves packages and their tarballs only.");
    }
  }

  async *#count(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      if (!this.#quota.receive(chunk.length)) throw new QuotaExceeded();
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

  #recordFailure(request: MirrorRequest, isMissing: boolean): void {
    const name = "name" in request ? request.name : "";
    const version = "version" in request ? request.version : null;
    if (!isMissing) this.#unavailable.add(name);
    else if (!this.#missing.some((each) => each.name === name && each.version === version))
      this.#missing.push({ name, version });
  }

  /** Yarn 2 and later requests a tunnel to the registry. It ends here: this server handles the requests in it. */
  #openTunnel(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (request.url !== `${MIRROR_HOST}:80`) return this.#rejectTunnel(request, socket);
    socket.unshift(head);
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    this.#http.emit("connection", socket);
  }

  #rejectTunnel({ url }: IncomingMessage, socket: Duplex): void {
    this.#blockedHosts.add((url ?? "").replace(/:443$/, ""));
    socket.on("error", () => socket.destroy());
    const response = "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    // Node detaches the socket of a CONNECT from the server, which then does not close it.
    socket.end(response, () => socket.destroy());
  }
}

function isPrematureClose(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ERR_STREAM_PREMATURE_CLOSE";
}

function sendError(response: ServerResponse, status: number, error: string): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ error }));
}
