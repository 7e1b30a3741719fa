import type { Socket } from "node:net";

/** The connections on which a request body is arriving that has a time limit of its own. */
export type StreamedConnections = WeakSet<Socket>;

interface ErrorResponse {
  status: string;
  message: string;
}

const RESPONSES: Readonly<Record<string, ErrorResponse | undefined>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: "408 Request Timeout", message: "The request did not arrive within 30 seconds." },
  HPE_HEADER_OVERFLOW: { status: "431 Request Header Fields Too Large", message: "The headers exceed 16 KiB." },
};

const MALFORMED: ErrorResponse = { status: "400 Bad Request", message: "The request is not valid HTTP." };

/** Returns a handler of errors of connections. It responds, and closes the connection. */
export function handleClientErrors(streamed: StreamedConnections) {
  return ({ code = "" }: NodeJS.ErrnoException, socket: Socket): void => {
    // Node reports the timeout of a request once. The request goes on unless its connection is closed.
    if (code === "ERR_HTTP_REQUEST_TIMEOUT" && streamed.has(socket)) return;
    if (code === "ECONNRESET" || socket.destroyed) return;
    const { status, message } = RESPONSES[code] ?? MALFORMED;
    const body = JSON.stringify({ error: message });
    const headers = `Content-Length: ${Buffer.byteLength(body)}\r\nContent-Type: application/json\r\nConnection: close`;
    if (socket.writable) socket.write(`HTTP/1.1 ${status}\r\n${headers}\r\n\r\n${body}`);
    socket.destroy();
  };
}
