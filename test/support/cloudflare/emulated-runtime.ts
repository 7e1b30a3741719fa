import { once } from "node:events";

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import path from "node:path";
import { Miniflare, type MiniflareOptions } from "miniflare";
import { PROBE_RESULT_HEADER } from "../../../server/platforms/cloudflare/dispatch-worker/edge-entry.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { type EmulatedScript, NAMESPACE_MODULE, workerOptionsOf } from "./emulated-script.ts";

/** What exists in the emulated account, as the runtime needs it. */
export interface AccountState {
  /** The scripts of the dispatch namespace by name. */
  scripts: Map<string, EmulatedScript>;
  /** Ordinary Workers. The one that has the namespace is in front of all apps. */
  workers: Map<string, EmulatedScript>;
  databases: Map<string, unknown>;
  namespaces: Map<string, unknown>;
  buckets: Map<string, unknown>;
}

export interface Statement {
  sql: string;
  params?: unknown[];
}

/** How long requests in flight may delay a new version. */
const DRAIN_MS = 1000;

/** Runs the scripts of the emulated account in one Miniflare, with its databases, keys and objects. */
export class EmulatedRuntime implements AsyncDisposable {
  readonly #state: AccountState;
  readonly #runsScripts: boolean;
  readonly #stack = new AsyncDisposableStack();
  #folder = "";
  #miniflare: Miniflare | null = null;
  #isOutdated = true;
  #reload: Promise<unknown> = Promise.resolve();
  /** Scripts that started. */
  readonly #valid = new Set<string>();
  #inFlight = 0;
  /** The port at which apps respond. */
  port = 0;

  /** @param runsScripts - `false` for tests of the API only: every script is valid, and responds to each request with 200 */
  constructor(state: AccountState, runsScripts: boolean) {
    this.#state = state;
    this.#runsScripts = runsScripts;
  }

  async open(): Promise<void> {
    this.#folder = this.#stack.use(await temporaryFolder()).path;
    const server = createServer((request, response) => void this.#serve(request, response));
    server.on("upgrade", (request: IncomingMessage, socket: Socket) => void this.#upgrade(request, socket));
    await once(server.listen(0, "127.0.0.1"), "listening");
    this.port = (server.address() as AddressInfo).port;
    this.#stack.defer(() => {
      server.closeAllConnections();
      server.close();
    });
    this.#stack.defer(() => this.#miniflare?.dispose());
  }

  /** Call it after every change of the account. */
  noteChange(changed: "data" | "scripts"): void {
    this.#isOutdated ||= changed === "data" || this.#runsScripts;
  }

  /** Sends a request to the local explorer, which has the interface of Cloudflare's API for data. */
  async explore(target: string, init: { method: string; headers?: Record<string, string>; body?: Uint8Array }) {
    const miniflare = await this.#current();
    const response = await miniflare.dispatchFetch(`http://127.0.0.1/cdn-cgi/explorer/api/${target}`, init as never);
    return { status: response.status, body: Buffer.from(await response.arrayBuffer()) };
  }

  /** Runs statements as a transaction, which the local explorer does not. */
  async runBatch(uuid: string, statements: readonly Statement[]): Promise<unknown[]> {
    const database = await (await this.#current()).getD1Database(uuid, "data");
    return database.batch(statements.map(({ sql, params = [] }) => database.prepare(sql).bind(...params)));
  }

  /** Starts a script alone, as Cloudflare does before it accepts an upload. Returns why it does not start. */
  async validate(script: EmulatedScript): Promise<string | null> {
    if (!this.#runsScripts) return null;
    // A candidate and the live script are the same code.
    const { bindings, compatibility_flags: flags, main_module: main } = script.metadata;
    const modules = [...script.modules].map(([name, { contents }]) => [name, Buffer.from(contents).toString("base64")]);
    const key = JSON.stringify([bindings, flags, main, modules]);
    if (this.#valid.has(key)) return null;
    const problem = await this.#start(script);
    if (problem === null) this.#valid.add(key);
    return problem;
  }

  async #start(script: EmulatedScript): Promise<string | null> {
    let printed = "";
    const listen = (stream: NodeJS.ReadableStream) =>
      stream.on("data", (chunk: Buffer) => (printed += chunk.toString()));
    const options = { ...shared, handleRuntimeStdio: (...streams: NodeJS.ReadableStream[]) => streams.forEach(listen) };
    let miniflare: Miniflare | null = null;
    try {
      const worker = await workerOptionsOf("validated", script, this.#folder);
      miniflare = new Miniflare({ ...options, workers: [worker] } as MiniflareOptions);
      await miniflare.ready;
      return null;
    } catch (error) {
      return /Uncaught [^\n]*/.exec(printed)?.[0] ?? String(error);
    } finally {
      await miniflare?.dispose().catch(() => {});
    }
  }

  async #current(): Promise<Miniflare> {
    // Callers wait for each other, so that one change causes one reload.
    const reload = this.#reload.then(() => this.#update());
    this.#reload = reload.catch(() => {});
    return reload;
  }

  async #update(): Promise<Miniflare> {
    if (this.#miniflare !== null && !this.#isOutdated) return this.#miniflare;
    const deadline = Date.now() + DRAIN_MS;
    while (this.#inFlight > 0 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 5));
    this.#isOutdated = false;
    const options = await this.#options();
    if (this.#miniflare === null) this.#miniflare = new Miniflare(options);
    else await this.#miniflare.setOptions(options);
    await this.#miniflare.ready;
    return this.#miniflare;
  }

  async #options(): Promise<MiniflareOptions> {
    const { scripts, workers, databases, namespaces, buckets } = this.#state;
    const same = (ids: Iterable<string>) => Object.fromEntries([...ids].map((id) => [id, id]));
    const data = {
      name: "data",
      modules: true,
      script: `export default { fetch: () => new Response("no dispatch worker", { status: 530 }) }`,
      d1Databases: same(databases.keys()),
      kvNamespaces: same(namespaces.keys()),
      r2Buckets: same(buckets.keys()),
    };
    const all = [];
    const serviceBindings: Record<string, string> = {};
    for (const [name, script] of this.#runsScripts ? scripts : []) {
      serviceBindings[`script:${name}`] = script.instance;
      all.push(await workerOptionsOf(script.instance, script, this.#folder));
    }
    const dispatchers = [];
    for (const script of this.#runsScripts ? workers.values() : []) {
      const options = await workerOptionsOf("dispatch", script, this.#folder);
      const modules = [
        { type: "ESModule", path: "/namespace.js", contents: NAMESPACE_MODULE },
        ...(options.modules ?? []),
      ];
      dispatchers.push({ ...options, modules, serviceBindings });
    }
    const folder = (kind: string) => path.join(this.#folder, kind);
    return {
      ...shared,
      unsafeLocalExplorer: true,
      d1Persist: folder("d1"),
      kvPersist: folder("kv"),
      r2Persist: folder("r2"),
      durableObjectsPersist: folder("do"),
      workers: [...dispatchers, data, ...all],
    } as MiniflareOptions;
  }

  /** Connects a client with the Worker that accepts its upgrade, such as to a WebSocket. */
  async #upgrade(request: IncomingMessage, socket: Socket): Promise<void> {
    const { hostname, port } = await (await this.#current()).ready;
    const upstream = connect(Number(port), hostname, () => {
      const headers = request.rawHeaders.flatMap((name, index, all) =>
        index % 2 === 0 ? [`${name}: ${all[index + 1]}`] : [],
      );
      const lines = [`${request.method} ${request.url} HTTP/1.1`, ...headers, "cf-connecting-ip: 203.0.113.7", "", ""];
      upstream.write(lines.join("\r\n"));
      upstream.pipe(socket);
      socket.pipe(upstream);
    });
    for (const [end, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      end.on("error", () => other.destroy());
      end.once("close", () => other.destroy());
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!this.#runsScripts) {
      response.writeHead(200, { [PROBE_RESULT_HEADER]: "responded" }).end();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const abort = new AbortController();
    response.once("close", () => abort.abort());
    try {
      const miniflare = await this.#current();
      this.#inFlight++;
      response.once("close", () => this.#inFlight--);
      const headers = { ...(request.headers as Record<string, string>), "cf-connecting-ip": "203.0.113.7" };
      const hasBody = chunks.length > 0;
      const reply = await miniflare.dispatchFetch(`http://${request.headers.host}${request.url}`, {
        method: request.method ?? "GET",
        headers,
        redirect: "manual",
        ...(hasBody ? { body: Buffer.concat(chunks) } : {}),
        signal: abort.signal,
      } as never);
      response.writeHead(reply.status, Object.fromEntries(reply.headers as never));
      for await (const chunk of reply.body ?? []) response.write(chunk);
      response.end();
    } catch {
      if (!response.headersSent) response.writeHead(502);
      response.end();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

const shared = { cf: false, log: undefined, host: "127.0.0.1", port: 0 } as const;
