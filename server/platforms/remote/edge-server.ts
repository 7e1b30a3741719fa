import { mkdir, mkdtemp } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import https from "node:https";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import type { LoggedApp } from "../../../domain/ports/runtime-logs.ts";
import { parseJson } from "../../../domain/shared/json.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { readBody } from "../../http/read-body.ts";
import { packCopy, unpackFiles } from "./data-archive.ts";
import {
  COPY_PATH,
  EDGE_METHODS,
  type EdgePorts,
  FOLLOW_PATH,
  INSTALLATION_PATH,
  PUBLISH_PATH,
  RESTORE_PATH,
} from "./edge-methods.ts";
import { encodeError } from "./edge-errors.ts";
import { unpackPublication } from "../shared/publication-archive.ts";
import { sharedKeyTls } from "./shared-key-tls.ts";

interface EdgeServerOptions {
  ports: EdgePorts;
  /** What the other processes must know of the installation. */
  installation: object;
  tokenSecret: string;
  host: string;
  /** 0 selects a free port. */
  port: number;
  /** The files of publications that arrive are in the folder `publications` below. */
  dataDirectory: string;
  log: { warn(fields: object, message: string): void };
}

/** The arguments of a call: migrations of an app can be large. */
const MAX_ARGUMENTS_BYTES = 64 * 1024 * 1024;
/** How often something is sent to a client that waits, so that both sides notice a lost connection. */
const HEARTBEAT_MS = 5000;

const locationSchema = z.object({ appId: z.string(), slug: z.string(), databaseId: z.string() });
const restoredSchema = locationSchema.extend({ maxDatabaseBytes: z.number() });
const appSchema = z.object({ id: z.string(), slug: z.string() });

/** Offers an edge platform to the other processes of the installation. Only those with its secret can connect. */
export class EdgeServer implements AsyncDisposable {
  readonly #options: EdgeServerOptions;
  readonly #server: https.Server;
  readonly #folder: string;

  private constructor(options: EdgeServerOptions) {
    this.#options = options;
    this.#folder = path.join(options.dataDirectory, "publications");
    this.#server = https.createServer({ ...sharedKeyTls(options.tokenSecret).server, keepAliveTimeout: 60_000 });
    // A publication takes as long as the app needs to start.
    this.#server.requestTimeout = 0;
    this.#server.on("request", (request, response) => void this.#respond(request, response));
  }

  /** @throws when the port is in use */
  static async listen(options: EdgeServerOptions): Promise<EdgeServer> {
    const server = new EdgeServer(options);
    // An earlier process may have been killed during a publication.
    await removeTree(server.#folder);
    await mkdir(server.#folder, { recursive: true, mode: 0o700 });
    server.#server.listen(options.port, options.host);
    await once(server.#server, "listening");
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const controller = new AbortController();
    response.once("close", () => {
      if (!response.writableFinished) controller.abort();
    });
    try {
      if (request.url === FOLLOW_PATH) return await this.#follow(request, response, controller.signal);
      if (request.url === COPY_PATH) return await this.#copyData(request, response, controller.signal);
      using _heartbeat = startHeartbeat(() => response.writeProcessing());
      const value = await this.#handle(request, controller.signal);
      send(response, 200, { value: value ?? null });
    } catch (error) {
      if (controller.signal.aborted) return;
      // The client notices that the body is incomplete.
      if (response.headersSent) return void response.destroy();
      const encoded = encodeError(error);
      if (encoded === null)
        this.#options.log.warn({ err: error, url: request.url }, "a call of another process failed");
      send(response, 500, { error: encoded ?? { name: "EdgeFailure", message: "The edge failed. Its log says why." } });
    }
  }

  async #handle(request: IncomingMessage, signal: AbortSignal): Promise<unknown> {
    const { ports, installation } = this.#options;
    if (request.url === INSTALLATION_PATH) return installation;
    if (request.url === PUBLISH_PATH) return this.#publish(request, signal);
    // Paths are compared as they were sent: `URL` would resolve `..`.
    const [path = "", query = ""] = (request.url ?? "").split("?", 2);
    if (path === RESTORE_PATH) {
      const app = restoredSchema.parse(parseJson(new URLSearchParams(query).get("app") ?? ""));
      return ports.appData.restore(app, () => unpackFiles(request), signal);
    }
    const method = findMethod(ports, path);
    const args = z.array(z.unknown()).parse(await readJson(request));
    return await method(...args, signal);
  }

  async #publish(request: IncomingMessage, signal: AbortSignal): Promise<unknown> {
    const folder = await mkdtemp(path.join(this.#folder, "publication-"));
    try {
      const { slug, script } = await unpackPublication(request, folder);
      const { problem = null, url: _, ...probe } = await this.#options.ports.platform.publish(slug, script, signal);
      return { problem: problem && encodeError(problem), ...probe };
    } finally {
      await removeTree(folder);
    }
  }

  /** Responds with a copy, which is removed when it is sent, or when the client ends the connection. */
  async #copyData(request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const [app] = z.tuple([locationSchema]).parse(await readJson(request));
    const heartbeat = startHeartbeat(() => response.writeProcessing());
    const copying = this.#options.ports.appData.copy(app, signal);
    await using copy = await copying.finally(() => heartbeat[Symbol.dispose]());
    response.writeHead(200, { "content-type": "application/x-tar" });
    await pipeline(packCopy(copy), response, { signal });
  }

  /** Responds with the new records of the log of an app, each array of them in a line, until the client ends the connection. */
  async #follow(request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const app: LoggedApp = appSchema.parse(await readJson(request));
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    response.flushHeaders();
    const stop = this.#options.ports.runtimeLogs.listen(app, (records) => {
      response.write(`${JSON.stringify(records)}\n`);
    });
    const heartbeat = startHeartbeat(() => response.write("\n"));
    const end = (): void => {
      heartbeat[Symbol.dispose]();
      stop();
    };
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  }
}

function startHeartbeat(send: () => void): Disposable {
  const timer = setInterval(send, HEARTBEAT_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function findMethod(ports: EdgePorts, url: string): (...args: unknown[]) => unknown {
  const [, portName = "", name = "", ...rest] = url.split("/");
  const methods = Object.hasOwn(EDGE_METHODS, portName) ? EDGE_METHODS[portName as keyof typeof EDGE_METHODS] : {};
  if (!Object.hasOwn(methods, name) || rest.length > 0) throw new Error(`The edge has no method ${url}`);
  const port = ports[portName as keyof EdgePorts] as unknown as Record<string, (...args: unknown[]) => unknown>;
  return (...args) => port[name]?.(...args);
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const body = await readBody(request, MAX_ARGUMENTS_BYTES);
  if (body === null) throw new Error("The arguments are too large");
  return parseJson(body.toString("utf8"));
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
