import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { createServer } from "node:tls";
import { createCertificate } from "../support/identity/certificate.ts";

interface TlsProxy extends AsyncDisposable {
  port: number;
}

/**
 * Terminates TLS for localhost and its subdomains, as the proxy in front of an installation does.
 *
 * @param target - a port on 127.0.0.1
 */
export async function startTlsProxy(target: number): Promise<TlsProxy> {
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer(createCertificate("localhost"), (socket) => {
    const upstream = connect(target, "127.0.0.1");
    for (const each of [socket, upstream]) {
      sockets.add(each);
      each.on("error", () => {}).once("close", () => sockets.delete(each));
    }
    socket.once("close", () => upstream.destroy());
    upstream.once("close", () => socket.destroy());
    socket.pipe(upstream).pipe(socket);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
