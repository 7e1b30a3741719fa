import { once } from "node:events";
import { chmod } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import path from "node:path";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { PackageReport, PackageSession } from "../../../domain/ports/package-source.ts";
import { createSocketFolder } from "../../sandbox/socket-folder.ts";
import { MIRROR_URL, type MirrorRequest, parseMirrorRequest } from "./parse-mirror-request.ts";
import { NotInRegistry, type RegistryClient } from "./registry-client.ts";

/** Every connection takes a file descriptor of the service, and untrusted code in an install can open any number. */
const MAX_CONNECTIONS = 256;

/** Serves the mirror to one install, on a unix socket of its own. */
export async function openMirrorSession(client: RegistryClient): Promise<PackageSession> {
  const folder = await createSocketFolder("packages");
  const socketPath = path.join(folder.path, "socket");
  const server = new MirrorServer(client);
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

class MirrorServer {
  readonly #http: Server;
  readonly #client: RegistryClient;
  readonly #unavailable = new Set<string>();
  readonly #missing = new Set<string>();
  readonly #blockedHosts = new Set<string>();

  constructor(client: RegistryClient) {
    this.#client = client;
    this.#http = createServer((request, response) => void this.#handle(request, response));
    this.#http.maxConnections = MAX_CONNECTIONS;
    this.#http.on("connect", (request, socket) => this.#rejectTunnel(request, socket));
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
    switch (request.kind) {
      case "package": {
        const { body } = await this.#client.getPackument(request.name);
        response.writeHead(200, { "content-type": "application/json", "content-length": body.length }).end(body);
        return;
      }
      case "tarball": {
        const { body } = await this.#client.fetchTarball(request.name, request.version);
        response.writeHead(200, { "content-type": "application/octet-stream" });
        return pipeline(body, response);
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

  #handleFailure(request: MirrorRequest, error: unknown, response: ServerResponse): void {
    const name = "name" in request ? request.name : "";
    const isMissing = error instanceof NotInRegistry;
    // A client that closed its connection early says nothing about the registry.
    if (!isPrematureClose(error)) (isMissing ? this.#missing : this.#unavailable).add(name);
    if (response.headersSent) response.destroy();
    else if (isMissing) sendError(response, 404, error.message);
    else sendError(response, 503, "The package registry did not respond.");
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
