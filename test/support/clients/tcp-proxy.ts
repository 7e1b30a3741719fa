import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** Forwards connections to a service. Closed, it refuses them, as the address of a service that restarts does. */
export interface TcpProxy extends AsyncDisposable {
  url: string;
  /** Ends all connections and refuses new ones. */
  close(): Promise<void>;
  /** Accepts connections again. */
  open(): Promise<void>;
}

export async function openTcpProxy(targetUrl: string): Promise<TcpProxy> {
  const { hostname, port: targetPort } = new URL(targetUrl);
  const sockets = new Set<Socket>();
  const forward = (socket: Socket): void => {
    const target = connect(Number(targetPort), hostname);
    for (const each of [socket, target]) {
      sockets.add(each);
      each.on("error", () => undefined).once("close", () => sockets.delete(each));
    }
    socket.pipe(target).pipe(socket);
    socket.once("close", () => target.destroy());
    target.once("close", () => socket.destroy());
  };
  let server: Server | null = null;
  let port = 0;
  const open = async (): Promise<void> => {
    server = createServer(forward).listen(port, "127.0.0.1");
    await once(server, "listening");
    ({ port } = server.address() as AddressInfo);
  };
  const close = async (): Promise<void> => {
    const closed = server === null ? null : once(server, "close");
    server?.close();
    for (const socket of sockets) socket.destroy();
    await closed;
    server = null;
  };
  await open();
  return { url: `http://127.0.0.1:${port}`, open, close, [Symbol.asyncDispose]: close };
}
