import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";

/**
 * Closes connections that have not sent a request when the server stops, such as those that browsers open in advance.
 * Node.js does not count them as idle, and would wait for them for a minute.
 */
export function closeUnusedConnections(server: FastifyInstance): void {
  const sockets = new Set<Socket>();
  server.server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.addHook("preClose", async () => {
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  });
}
