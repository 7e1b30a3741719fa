import type { Socket } from "node:net";

/** How long a client may take to read a response and to close its side of the connection, in milliseconds. */
const LINGER_MS = 2000;

/**
 * Lets a client read a response that was sent before its request arrived completely, such as 413 to a large body.
 *
 * Node calls `destroySoon` after the last response of a connection. It closes the connection at once, and the system
 * resets a connection that is closed while data arrives: many clients then lose the response. Here, only the server's side
 * is closed, and what the client still sends is discarded, until the client closes its side too (RFC 9112, section 9.6).
 */
export function lingerOnClose(socket: Socket): void {
  socket.destroySoon = () => {
    if (socket.destroyed) return;
    socket.end();
    // Further requests on the connection must not be parsed any more.
    const discardInput = () => void socket.removeAllListeners("data").on("data", () => undefined);
    // Node's parser pauses a connection while nothing reads the body, and resumes it only as long as it is attached.
    if (socket.isPaused()) socket.once("resume", discardInput).resume();
    else discardInput();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once("close", () => clearTimeout(timer));
  };
}
