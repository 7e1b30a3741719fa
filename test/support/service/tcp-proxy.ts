import { once } from "node:events";
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Server, type Socket } from "node:net";

/** Stands between a service and a server that it uses, so that a test can make the server unreachable. */
export class TcpProxy implements AsyncDisposable {
  readonly #target: NetConnectOpts;
  readonly #sockets = new Set<Socket>();
  #server: Server | null = null;
  /** The port at which the proxy listens, also after it was cut. */
  port = 0;

  static async open(target: NetConnectOpts): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    await proxy.restore();
    return proxy;
  }

  private constructor(target: NetConnectOpts) {
    this.#target = target;
  }

  /** Closes all connections, and refuses new ones. */
  async cut(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    const closed = once(server, "close");
    server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Accepts connections again. */
  async restore(): Promise<void> {
    const server = createServer((socket) => this.#join(socket)).listen(this.port, "127.0.0.1");
    await once(server, "listening");
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.cut();
  }

  #join(client: Socket): void {
    const upstream = connect(this.#target);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#sockets.add(one);
      one.pipe(other);
      one
        .on("error", () => other.destroy())
        .once("close", () => {
          this.#sockets.delete(one);
          other.destroy();
        });
    }
  }
}
