import { connect } from "node:net";
import { finished } from "node:stream/promises";

/** More than the buffers of the system hold, so that all of it is sent only if the server reads it. */
const BODY = Buffer.alloc(20_000_000);

/**
 * Posts a body of 20 MB on a connection that the server is to close, and returns the response. Like many clients, it sends
 * the whole body even if the response arrives earlier. Rejects if the server resets the connection.
 */
export async function sendWholeBody(port: number, path: string, headers: string): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  const framing = `Connection: close\r\nContent-Length: ${BODY.length}\r\n`;
  socket.write(`POST ${path} HTTP/1.1\r\n${headers}\r\n${framing}\r\n`);
  socket.end(BODY);
  let response = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => (response += chunk));
  await finished(socket);
  return response;
}
