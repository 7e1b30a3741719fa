import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { PackageReport, PackageSession, PackageSource } from "../../../domain/ports/package-source.ts";
import type { NpmSettings } from "./npm-settings.ts";
import { NotInRegistry, Registry } from "./registry-client.ts";
import { parseTarget, type Target } from "./parse-mirror-request.ts";

export interface PackageMirrorOptions {
  /** Where packages are kept for later installs, and for installs without a network. Created when needed. */
  cacheDirectory: string;
  settings: NpmSettings;
}

/**
 * The registry that clients of the mirror are set to. The name exists nowhere: they send what they ask of it to their
 * proxy, which is the mirror. Without TLS, so that a proxy is asked for the URL instead of for a tunnel.
 */
const MIRROR_URL = "http://packages.invalid/";

/** Each takes a descriptor of the service, and an install may run code of the project, which could open any number. */
const MAX_CONNECTIONS = 256;

/**
 * The package registries of this machine for those that may reach nothing else: read-only, by package name, with the
 * machine's credentials staying here. What a client can tell the world through it is which packages it asks for.
 */
export class PackageMirror implements PackageSource {
  readonly #registry: Registry;

  constructor({ cacheDirectory, settings }: PackageMirrorOptions) {
    this.#registry = new Registry({ cacheDirectory, settings, mirrorUrl: MIRROR_URL });
  }

  async open(): Promise<PackageSession> {
    // The data folder's path may be too long for a socket, and this one holds nothing that outlives the build.
    const folder = await mkdtemp(path.join(tmpdir(), "packages-"));
    const socketPath = path.join(folder, "socket");
    const door = new Door(this.#registry);
    door.server.listen(socketPath);
    await once(door.server, "listening");
    // The folder is for us alone. The socket is mounted where somebody else's process must be able to connect to it.
    await chmod(socketPath, 0o666);
    return {
      socketPath,
      registryUrl: MIRROR_URL,
      report: () => door.report(),
      [Symbol.asyncDispose]: async () => {
        await door.close();
        await rm(folder, { recursive: true, force: true });
      },
    };
  }
}

class Door {
  readonly server: Server;
  readonly #registry: Registry;
  readonly #unavailable = new Set<string>();
  readonly #missing = new Set<string>();
  readonly #refused = new Set<string>();

  constructor(registry: Registry) {
    this.#registry = registry;
    this.server = createServer((request, response) => void this.#serve(request, response));
    this.server.maxConnections = MAX_CONNECTIONS;
    this.server.on("connect", (request, socket) => this.#refuseTunnel(request, socket));
  }

  report(): PackageReport {
    return { unavailable: [...this.#unavailable], missing: [...this.#missing], refused: [...this.#refused] };
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, "close");
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== "GET" && request.method !== "HEAD") return answer(response, 405, "The mirror is read-only");
    const target = parseTarget(request.url ?? "", new URL(MIRROR_URL).host);
    try {
      await this.#give(target, response);
    } catch (error) {
      this.#fail(target, error, response);
    }
  }

  async #give(target: Target, response: ServerResponse): Promise<void> {
    switch (target.kind) {
      case "package": {
        const { body } = await this.#registry.package(target.name);
        response.writeHead(200, { "content-type": "application/json", "content-length": body.length }).end(body);
        return;
      }
      case "tarball": {
        const { body } = await this.#registry.tarball(target.name, target.version);
        response.writeHead(200, { "content-type": "application/octet-stream" });
        return pipeline(body, response);
      }
      case "elsewhere":
        this.#refused.add(target.host);
        return answer(response, 403, `${target.host} cannot be reached from here`);
      case "unknown":
        return answer(response, 404, "The mirror has packages and their tarballs only");
    }
  }

  #fail(target: Target, error: unknown, response: ServerResponse): void {
    const name = "name" in target ? target.name : "";
    const isMissing = error instanceof NotInRegistry;
    // A client that went away says nothing about the registry.
    if (!isAbandoned(error)) (isMissing ? this.#missing : this.#unavailable).add(name);
    if (response.headersSent) response.destroy();
    else if (isMissing) answer(response, 404, error.message);
    else answer(response, 503, "The registry did not answer");
  }

  #refuseTunnel({ url }: IncomingMessage, socket: Duplex): void {
    this.#refused.add((url ?? "").replace(/:443$/, ""));
    socket.on("error", () => socket.destroy());
    const refusal = "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    // The server has let go of this socket, so nobody else would close it.
    socket.end(refusal, () => socket.destroy());
  }
}

function isAbandoned(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ERR_STREAM_PREMATURE_CLOSE";
}

function answer(response: ServerResponse, status: number, error: string): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ error }));
}
