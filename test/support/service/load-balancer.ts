import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

const CHECK_MS = 500;

interface Backend {
  url: URL;
  /** Says whether the backend is ready. */
  readyz: URL;
  isReady: boolean;
}

/**
 * A round-robin load balancer, such as nginx: it keeps connections to its backends open, leaves out those whose `/readyz` is not 200, and
 * tries the next one when a connection is refused. It never repeats a request that was sent.
 */
export class LoadBalancer implements AsyncDisposable {
  readonly #backends: Backend[];
  readonly #agent = new Agent({ keepAlive: true });
  readonly #server = createServer((incoming, outgoing) => void this.#serve(incoming, outgoing));
  readonly #stop = new AbortController();
  #turn = 0;

  /**
   * @param backends - by default, `/readyz` of a backend is at the same port
   * @param port - 0 selects a free port
   */
  static async start(backends: readonly (string | { url: string; readyz: string })[], port = 0): Promise<LoadBalancer> {
    const balancer = new LoadBalancer(
      backends.map((backend) =>
        typeof backend === "string" ? { url: backend, readyz: `${backend}/readyz` } : backend,
      ),
    );
    balancer.#server.listen(port, "127.0.0.1");
    await once(balancer.#server, "listening");
    for (const backend of balancer.#backends) void balancer.#follow(backend);
    return balancer;
  }

  private constructor(backends: readonly { url: string; readyz: string }[]) {
    this.#backends = backends.map(({ url, readyz }) => ({ url: new URL(url), readyz: new URL(readyz), isReady: true }));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#server.close();
    this.#server.closeAllConnections();
    this.#agent.destroy();
    await once(this.#server, "close");
  }

  async #follow(backend: Backend): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const response = await fetch(backend.readyz, { signal }).catch(() => null);
      await response?.body?.cancel();
      backend.isReady = response?.status === 200;
      await delay(CHECK_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = Buffer.concat(await incoming.toArray());
    const ready = this.#backends.filter(({ isReady }) => isReady);
    const first = this.#turn++;
    for (let at = 0; at < ready.length; at++) {
      const backend = ready[(first + at) % ready.length] as Backend;
      const response = await this.#forward(backend, incoming, body);
      if (response === "refused") continue;
      if (response === "failed") return void outgoing.writeHead(502).end("the backend closed the connection");
      const { connection: _own, "transfer-encoding": _framing, ...headers } = response.headers;
      outgoing.writeHead(response.statusCode ?? 502, headers);
      outgoing.once("close", () => response.destroy());
      return void response.on("error", () => outgoing.destroy()).pipe(outgoing);
    }
    outgoing.writeHead(502).end("no backend is ready");
  }

  async #forward(
    { url }: Backend,
    incoming: IncomingMessage,
    body: Buffer,
  ): Promise<IncomingMessage | "refused" | "failed"> {
    const { connection: _own, ...headers } = incoming.headers;
    const { method, url: path } = incoming;
    const sent = request(url, { agent: this.#agent, method: method ?? "GET", path: path ?? "/", headers });
    try {
      const [response] = (await once(sent.end(body), "response")) as [IncomingMessage];
      return response;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "ECONNREFUSED" ? "refused" : "failed";
    }
  }
}
