import type { Server } from "node:http";
import type { Socket } from "node:net";
import { lingerOnClose } from "./linger-on-close.ts";

/** The connections of the clients of one service, which may listen on several addresses. */
export class ClientConnections {
  readonly #sockets = new Set<Socket>();

  /**
   * Prepares the connections that `server` accepts. Node reads the address of the peer on first use and then keeps it. It has
   * none to read when the connection is closed, so it is read here, for `request.ip`. A closed connection is dropped.
   */
  prepare(server: Server): Server {
    return server.on("connection", (socket: Socket) => {
      if (socket.remoteAddress === undefined) return void socket.destroy();
      lingerOnClose(socket);
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  /**
   * Closes the connections on which no request was sent, such as those that browsers open in advance. Node does not count them
   * as idle: a server that stops would wait for them for a minute.
   */
  closeUnused(): void {
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
  }
}
