import { connect } from "node:net";
import { text } from "node:stream/consumers";

/** In bytes. */
const BODY_SIZE = 20 * 1024 * 1024;

export interface EarlyResponse {
  status: number;
  /** In lower case. */
  headers: Record<string, string>;
  body: string;
}

/**
 * Sends a request that declares a body of 20 MiB, with the first bytes of the body only. Resolves when the server has responded
 * and closed its side of the connection, which it can do only if it does not wait for the rest.
 *
 * @param target - the method and the URL, such as `POST /v1/tokens`
 */
export async function sendHeaders(
  origin: string,
  target: string,
  headers: Record<string, string>,
): Promise<EarlyResponse> {
  const { hostname, port, host } = new URL(origin);
  const socket = connect(Number(port), hostname);
  const lines = Object.entries({ host, "content-length": String(BODY_SIZE), ...headers });
  socket.write(`${target} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n{"`);
  const [head = "", body = ""] = (await text(socket)).split(/\r\n\r\n([^]*)/);
  const [statusLine = "", ...fields] = head.split("\r\n");
  return {
    status: Number(statusLine.split(" ")[1]),
    headers: Object.fromEntries(fields.map((field) => splitField(field))),
    body,
  };
}

function splitField(field: string): [name: string, value: string] {
  const colon = field.indexOf(":");
  return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
}
