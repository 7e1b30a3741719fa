import type { Socket } from "node:net";

/** The open sockets of a forwarder. An error closes a socket. */
export class TrackedSockets {
  readonly #sockets = new Set<Socket>();

  get size(): number {
    return this.#sockets.size;
  }

  add(socket: Socket): void {
    if (this.#sockets.has(socket)) return;
    this.#sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => this.#sockets.delete(socket));
  }

  /** Adds two sockets, and passes on what each receives. What one side has sent before it closed still reaches the other one. */
  join(inside: Socket, outside: Socket): void {
    for (const socket of [inside, outside]) this.add(socket);
    inside.pipe(outside).pipe(inside);
    inside.once("close", () => outside.destroySoon());
    outside.once("close", () => inside.destroySoon());
  }

  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
