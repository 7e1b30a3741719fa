import { once } from "node:events";
import { chmod } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { TokenUsage } from "../../../domain/ports/app-builder-agent.ts";
import { isRecord, parseJson } from "../../../domain/shared/json.ts";
import { readBody } from "../../http/read-body.ts";
import { createSocketFolder, type SocketFolder } from "../../sandbox/socket-folder.ts";
import { fixRequest, RefusedRequest } from "./forwarded-request.ts";
import { UsageReader } from "./usage-reader.ts";

/** The endpoint of a language model. */
export interface ModelEndpoint {
  provider: "openai-compatible" | "anthropic";
  name: string;
  baseUrl: string | null;
  apiKey: string | null;
}

export interface ForwarderOptions {
  endpoint: ModelEndpoint;
  /** How many tokens may be used, input and output together. */
  maxTokens: number;
  onUsage(usage: TokenUsage): Promise<void>;
}

const ANTHROPIC_URL = "https://api.anthropic.com/v1";

/** The operations that a coding agent needs, relative to the base URL. */
const PATHS: Readonly<Record<ModelEndpoint["provider"], readonly string[]>> = {
  "openai-compatible": ["/chat/completions", "/responses"],
  anthropic: ["/messages", "/messages/count_tokens"],
};

const LIMITS = { requestBytes: 8 * 1024 * 1024, responseBytes: 64 * 1024 * 1024, requests: 200, timeoutMs: 300_000 };

/** Features of an endpoint that run on its side, which a sandbox must not use. */
const SERVER_SIDE_BETA = /mcp|web|code-execution|files|computer|skills|container/;

/**
 * The only network of a coding agent's command in the sandbox: an HTTP server on a unix socket that passes calls of the model on. It
 * adds the key, so the command never has it. It allows the operations of the model only, with the configured model, a bound of
 * tokens, and no tools that the endpoint runs itself.
 */
export class ModelForwarder implements AsyncDisposable {
  readonly socketPath: string;
  readonly #folder: SocketFolder;
  readonly #server: Server;
  readonly #options: ForwarderOptions;
  readonly #closing = new AbortController();
  #requests = 0;
  #tokens = 0;
  #responseBytes = 0;
  #failedStatus: number | null = null;

  static async open(options: ForwarderOptions): Promise<ModelForwarder> {
    const folder = await createSocketFolder("egress");
    const forwarder = new ModelForwarder(options, folder);
    await once(forwarder.#server.listen(forwarder.socketPath), "listening");
    // Other users cannot enter the folder. The sandbox gets only the socket, and may run as another user.
    await chmod(forwarder.socketPath, 0o666);
    return forwarder;
  }

  private constructor(options: ForwarderOptions, folder: SocketFolder) {
    this.#options = options;
    this.#folder = folder;
    this.socketPath = path.join(folder.path, "model.sock");
    this.#server = createServer((request, response) => void this.#handle(request, response));
    this.#server.maxConnections = 32;
  }

  /** How many times the model has responded. */
  get steps(): number {
    return this.#requests;
  }

  get tokens(): number {
    return this.#tokens;
  }

  get isOutOfTokens(): boolean {
    return this.#tokens >= this.#options.maxTokens;
  }

  /** The status with which the endpoint rejected the last call; `null` if it accepted it. */
  get failedStatus(): number | null {
    return this.#failedStatus;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error("the command has ended"));
    this.#server.closeAllConnections();
    this.#server.close();
    await this.#folder[Symbol.asyncDispose]();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#forward(request, response);
    } catch (error) {
      const isRefused = error instanceof RefusedRequest;
      respond(response, isRefused ? 400 : 502, isRefused ? error.message : "The model cannot be reached.");
    }
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { endpoint } = this.#options;
    const target = operationOf(request.url ?? "");
    if (request.method === "GET" && target === "/models") return respondJson(response, modelList(endpoint.name));
    if (request.method !== "POST" || !PATHS[endpoint.provider].includes(target))
      return respond(response, 403, "Only calls of the model are allowed.");
    if (this.isOutOfTokens || this.#requests >= LIMITS.requests || this.#responseBytes > LIMITS.responseBytes)
      return respond(response, 403, "The bound of this customization is reached.");
    const body = fixRequest(await readJson(request), endpoint.name, target);
    this.#requests += 1;
    const result = await fetch(`${endpoint.baseUrl ?? ANTHROPIC_URL}${target}`, {
      method: "POST",
      headers: { ...passedHeaders(request), ...keyHeaders(endpoint), "content-type": "application/json" },
      body: JSON.stringify(body),
      redirect: "error",
      signal: AbortSignal.any([this.#closing.signal, AbortSignal.timeout(LIMITS.timeoutMs)]),
    });
    this.#failedStatus = result.ok ? null : result.status;
    // The text of an error can contain a part of the key.
    if (!result.ok) return respond(response, result.status, "The endpoint of the model rejected the call.");
    await this.#passOn(result, response);
  }

  async #passOn(result: Response, response: ServerResponse): Promise<void> {
    const usage = new UsageReader();
    response.writeHead(200, { "content-type": result.headers.get("content-type") ?? "application/json" });
    const chunks = result.body === null ? [] : this.#count(result.body, usage);
    try {
      await pipeline(Readable.from(chunks), response);
    } finally {
      const used = usage.end();
      this.#tokens += used.inputTokens + used.outputTokens;
      await this.#options.onUsage(used);
    }
  }

  async *#count(body: AsyncIterable<Uint8Array>, usage: UsageReader): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      this.#responseBytes += chunk.length;
      if (this.#responseBytes > LIMITS.responseBytes) throw new Error("the responses exceed their bound");
      usage.add(chunk);
      yield chunk;
    }
  }
}

/** The path after `/v1`. A client that uses the forwarder as its proxy sends a whole URL. */
function operationOf(url: string): string {
  const { pathname } = new URL(url, "http://forwarder");
  return pathname.replace(/^\/v1(?=\/)/, "");
}

async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  const bytes = await readBody(request, LIMITS.requestBytes);
  if (bytes === null) throw new RefusedRequest("The request is too large.");
  const body = parseJson(bytes.toString("utf8"));
  if (!isRecord(body)) throw new RefusedRequest("The body must be a JSON object.");
  return body;
}

function passedHeaders({ headers }: IncomingMessage): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name of ["accept", "anthropic-version"]) {
    const value = headers[name];
    if (typeof value === "string") passed[name] = value;
  }
  const betas = String(headers["anthropic-beta"] ?? "").split(",");
  const allowed = betas.map((beta) => beta.trim()).filter((beta) => beta !== "" && !SERVER_SIDE_BETA.test(beta));
  return allowed.length === 0 ? passed : { ...passed, "anthropic-beta": allowed.join(",") };
}

function keyHeaders({ provider, apiKey }: ModelEndpoint): Record<string, string> {
  if (apiKey === null) return {};
  return provider === "anthropic" ? { "x-api-key": apiKey } : { authorization: `Bearer ${apiKey}` };
}

function modelList(name: string): object {
  return { object: "list", data: [{ id: name, object: "model", owned_by: "service" }] };
}

function respondJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function respond(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } }));
}
