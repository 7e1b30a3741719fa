import type { FastifyInstance } from "fastify";
import { lingerOnClose } from "./linger-on-close.ts";

/**
 * Drops requests whose client has disconnected already, and lets the other clients read their responses.
 *
 * Node reads the address of the peer on first use and then keeps it. It has none to read when the connection is closed, so
 * `request.ip` is read here, before any other use.
 */
export function prepareConnections(app: FastifyInstance): void {
  app.addHook("onRequest", async ({ raw: { socket } }, reply) => {
    if (socket.remoteAddress === undefined) {
      reply.hijack();
      socket.destroy();
    } else {
      lingerOnClose(socket);
    }
  });
}
